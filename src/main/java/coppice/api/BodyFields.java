package coppice.api;

import coppice.base.Label;
import coppice.identity.LinuxUsers;
import coppice.json.JsonObject;
import java.time.Duration;
import java.util.Optional;

/// Fields that are read the same way in every body that has them: not sent, they leave what was `before`.
public final class BodyFields {
    private static final long MAX_SECONDS = 315_360_000;

    private BodyFields() {}

    /// A free name; empty clears it.
    public static Optional<String> label(JsonObject body, String field, Optional<String> before) {
        return body.string(field)
                .map(
                        text ->
                                text.isEmpty()
                                        ? Optional.<String>empty()
                                        : Optional.of(Label.parse(body.path(field), text).text()))
                .orElse(before);
    }

    /// As which users of a guest a grant lets act; null or not sent: as any.
    public static LinuxUsers linuxUsers(JsonObject body, String field) {
        return body.strings(field)
                .map(names -> LinuxUsers.only(body.path(field), names))
                .orElse(LinuxUsers.ANY);
    }

    /// As [#linuxUsers], and has to be sent, if only as null.
    public static LinuxUsers sentLinuxUsers(JsonObject body, String field) {
        if (!body.fields().contains(field)) {
            throw body.missing(field);
        }
        return linuxUsers(body, field);
    }

    /// A whole number from `least` to `most`.
    public static Optional<Integer> whole(JsonObject body, String field, int least, int most) {
        var value = body.integer(field);
        value.filter(number -> number < least || number > most)
                .ifPresent(
                        _ -> {
                            throw body.fault(field, "must be %d to %d".formatted(least, most));
                        });
        return value.map(Math::toIntExact);
    }

    /// A limit in seconds, not below `least`; -1 is no limit.
    public static Optional<Duration> seconds(
            JsonObject body, String field, long least, Optional<Duration> before) {
        var value = body.integer(field);
        if (value.isEmpty()) {
            return before;
        }
        if (value.get() == -1) {
            return Optional.empty();
        }
        if (value.get() < least || value.get() > MAX_SECONDS) {
            throw body.fault(
                    field,
                    "must be %d to %d seconds, or -1 for no limit".formatted(least, MAX_SECONDS));
        }
        return value.map(Duration::ofSeconds);
    }
}
