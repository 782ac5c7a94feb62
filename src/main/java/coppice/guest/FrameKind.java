package coppice.guest;

import java.util.Optional;

/// The kinds of frame of protocol version 1, in the order of their numbers, which begin at 1.
enum FrameKind {
    HELLO,
    WELCOME,
    OPEN,
    DATA,
    END,
    CREDIT,
    RESULT,
    RESET,
    PING,
    PONG;

    private static final FrameKind[] ALL = values();

    int code() {
        return ordinal() + 1;
    }

    /// Empty for a kind of a later version: such frames are ignored.
    static Optional<FrameKind> of(int code) {
        return code >= 1 && code <= ALL.length ? Optional.of(ALL[code - 1]) : Optional.empty();
    }
}
