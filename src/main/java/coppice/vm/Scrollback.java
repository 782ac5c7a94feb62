package coppice.vm;

import coppice.base.Deadline;
import coppice.guest.Guest;
import coppice.guest.TerminalName;
import coppice.guest.TerminalOutput;
import coppice.guest.TerminalStream;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/// What a guest keeps of the output of a session, read once. Nobody says where it ends and what is new begins: it has ended when the agent,
/// which answers in turn, has answered something else and still sent nothing.
final class Scrollback {
    private static final int MAX = 1 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration SILENCE = Duration.ofMillis(30);

    private Scrollback() {}

    static byte[] of(Guest guest, TerminalName session) {
        var deadline = Deadline.in(LIMIT);
        try (var stream =
                guest.terminals()
                        .attach(session, Optional.empty(), OptionalLong.empty(), deadline)) {
            return read(guest, stream, deadline);
        }
    }

    private static byte[] read(Guest guest, TerminalStream stream, Deadline deadline) {
        var all = new ByteArrayOutputStream();
        boolean isSilent = false;
        while (all.size() < MAX && !deadline.isPast()) {
            switch (stream.read(deadline.atMost(SILENCE))) {
                case TerminalOutput.Bytes(var bytes) -> {
                    all.writeBytes(bytes);
                    isSilent = false;
                }
                case TerminalOutput.Nothing _ -> {
                    if (isSilent) {
                        return all.toByteArray();
                    }
                    guest.ping(deadline);
                    isSilent = true;
                }
                case TerminalOutput.Cut(var why) -> throw why;
                case TerminalOutput.Ended _, TerminalOutput.TooSlow _, TerminalOutput.Closed _ -> {
                    return all.toByteArray();
                }
            }
        }
        return all.toByteArray();
    }
}
