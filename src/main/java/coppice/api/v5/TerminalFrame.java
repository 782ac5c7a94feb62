package coppice.api.v5;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.TerminalEnd;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.Viewer;
import java.nio.charset.StandardCharsets;

/// The text frames of a terminal's WebSocket. What comes from a client is read as one of these or refused: it is never input.
sealed interface TerminalFrame {
    int MAX_SIDE = 1000;

    record Resize(int columns, int rows) implements TerminalFrame {}

    /// @param number 2 for `sigint`, 9 for `sigkill`
    record Signal(int number) implements TerminalFrame {}

    /// Anything else is a `BAD_REQUEST`.
    static TerminalFrame parse(String text) {
        var frame = Json.parse(text.getBytes(StandardCharsets.UTF_8));
        return switch (frame.requiredString("type")) {
            case "resize" -> new Resize(side(frame, "cols"), side(frame, "rows"));
            case "signal" -> new Signal(signal(frame));
            default -> throw frame.fault("type", "must be resize or signal; input is binary");
        };
    }

    private static int side(JsonObject frame, String field) {
        long value = frame.requiredInteger(field);
        if (value < 1 || value > MAX_SIDE) {
            throw frame.fault(field, "must be 1 to %d".formatted(MAX_SIDE));
        }
        return (int) value;
    }

    private static int signal(JsonObject frame) {
        return switch (frame.requiredString("signal")) {
            case "sigint" -> 2;
            case "sigkill" -> 9;
            default -> throw frame.fault("signal", "must be sigint or sigkill");
        };
    }

    static String sessionInfo(Viewer viewer) {
        var session = viewer.session();
        return text(
                new JsonWriter()
                        .put("type", "sessionInfo")
                        .put("sessionId", session.session())
                        .put("slug", session.slug().map(slug -> slug.text()))
                        .put("created", viewer.isFresh()));
    }

    static String exited(TerminalEnd end) {
        return text(new JsonWriter().put("type", "exited").put("exitCode", exitCode(end)));
    }

    static String error(Failure why) {
        var message =
                why.code() == Code.INTERNAL_ERROR
                        ? "the server met a fault of its own"
                        : why.getMessage();
        return text(new JsonWriter().put("type", "error").put("message", message));
    }

    /// 128 and the number of the signal for one that a signal ended.
    static int exitCode(TerminalEnd end) {
        return switch (end) {
            case TerminalEnd.Exited(int status) -> status;
            case TerminalEnd.Signalled(int signal) -> 128 + signal;
        };
    }

    private static String text(JsonWriter frame) {
        return new String(Json.write(frame), StandardCharsets.UTF_8);
    }
}
