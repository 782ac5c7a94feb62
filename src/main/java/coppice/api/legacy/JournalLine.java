package coppice.api.legacy;

import coppice.base.Failure;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A line of a guest's journal, as `journalctl -o json` prints it.
///
/// @param priority the number, as text
record JournalLine(
        String message, Instant timestamp, Optional<String> priority, Optional<String> unit) {

    /// A moment as `journalctl --since` takes it.
    static String since(Instant moment) {
        var micros = ChronoUnit.MICROS.between(Instant.EPOCH, moment);
        return "@%d.%06d"
                .formatted(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L));
    }

    /// What a guest that prints something else says is left out.
    static List<JournalLine> parse(String output) {
        return output.lines().flatMap(line -> read(line).stream()).toList();
    }

    private static Optional<JournalLine> read(String line) {
        try {
            var json = Json.parse(line.getBytes(StandardCharsets.UTF_8));
            var micros = Long.parseLong(json.string("__REALTIME_TIMESTAMP").orElse("0"));
            return Optional.of(
                    new JournalLine(
                            message(json),
                            Instant.EPOCH.plus(micros, ChronoUnit.MICROS),
                            json.string("PRIORITY"),
                            Stream.of("UNIT", "USER_UNIT", "_SYSTEMD_USER_UNIT", "_SYSTEMD_UNIT")
                                    .flatMap(field -> json.string(field).stream())
                                    .findFirst()));
        } catch (Failure | NumberFormatException | java.time.DateTimeException e) {
            return Optional.empty();
        }
    }

    /// A message that is no UTF-8, or has control characters, comes as its bytes.
    private static String message(JsonObject json) {
        return switch (json.value("MESSAGE").orElse("")) {
            case String text -> text;
            case List<?> items -> {
                var bytes = new byte[items.size()];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] =
                            items.get(i) instanceof Long number ? number.byteValue() : (byte) '?';
                }
                yield new String(bytes, StandardCharsets.UTF_8);
            }
            default -> "";
        };
    }
}
