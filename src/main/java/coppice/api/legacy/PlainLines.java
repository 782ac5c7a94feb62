package coppice.api.legacy;

import java.util.ArrayList;
import java.util.List;

/// What a terminal was told, as lines of plain text: without escape sequences (ECMA-48, and what terminals do with broken ones) and
/// without control characters. A carriage return and a backspace move the cursor, and what comes then overwrites.
final class PlainLines {
    private static final char ESCAPE = '\u001b';

    /// Of a line that is overwritten for ever.
    private static final int MAX_LINE = 1 << 20;

    private enum State {
        TEXT,
        ESCAPED,
        CONTROL_SEQUENCE,
        STRING,
        STRING_ESCAPED
    }

    private final List<String> lines = new ArrayList<>();
    private final StringBuilder line = new StringBuilder();
    private State state = State.TEXT;
    private int column;

    private PlainLines() {}

    static List<String> of(String output) {
        var plain = new PlainLines();
        output.chars().forEach(c -> plain.take((char) c));
        if (!plain.line.isEmpty()) {
            plain.endLine();
        }
        return List.copyOf(plain.lines);
    }

    private void take(char c) {
        if (c == '\u0018' || c == '\u001a') { // cancel, substitute: whatever was begun is off
            state = State.TEXT;
        } else if (c == ESCAPE) {
            state = isString() ? State.STRING_ESCAPED : State.ESCAPED;
        } else {
            state =
                    switch (state) {
                        case TEXT -> text(c);
                        case ESCAPED -> escaped(c);
                        case STRING_ESCAPED -> c == '\\' ? State.TEXT : escaped(c);
                        case STRING -> c == '\u0007' || c == '\u009c' ? State.TEXT : state;
                        case CONTROL_SEQUENCE -> controlSequence(c);
                    };
        }
    }

    private boolean isString() {
        return state == State.STRING || state == State.STRING_ESCAPED;
    }

    private State escaped(char c) {
        return switch (c) {
            case '[' -> State.CONTROL_SEQUENCE;
            case ']', 'P', 'X', '^', '_' -> State.STRING;
            default -> {
                if (c >= ' ' && c <= '/') {
                    yield State.ESCAPED; // more of it comes
                }
                yield c < ' ' ? control(c, State.ESCAPED) : State.TEXT;
            }
        };
    }

    /// Control characters inside a sequence act as they do outside.
    private State controlSequence(char c) {
        if (c < ' ') {
            return control(c, State.CONTROL_SEQUENCE);
        }
        if (c == 'K') {
            line.setLength(Math.min(column, line.length()));
        }
        return c >= '@' ? State.TEXT : State.CONTROL_SEQUENCE;
    }

    private State text(char c) {
        return switch (c) {
            case '\u009b' -> State.CONTROL_SEQUENCE;
            case '\u0090', '\u0098', '\u009d', '\u009e', '\u009f' -> State.STRING;
            default -> {
                if (Character.isISOControl(c) && c != '\t') {
                    yield control(c, State.TEXT);
                }
                put(c);
                yield State.TEXT;
            }
        };
    }

    private State control(char c, State next) {
        switch (c) {
            case '\n' -> endLine();
            case '\r' -> column = 0;
            case '\b' -> column = Math.max(0, column - 1);
            default -> {}
        }
        return next;
    }

    private void put(char c) {
        if (column < line.length()) {
            line.setCharAt(column, c);
        } else if (column < MAX_LINE) {
            line.append(c);
        }
        column = Math.min(column + 1, MAX_LINE);
    }

    private void endLine() {
        lines.add(line.toString());
        line.setLength(0);
        column = 0;
    }
}
