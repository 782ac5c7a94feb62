package coppice.json;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// Times as they are written: RFC 3339 in UTC, with milliseconds. By hand, since nearly every answer has two or more of them, and a
/// formatter takes many times as long.
final class Times {
    private static final DateTimeFormatter ANY =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private static final int MAX_YEAR = 9999;
    private static final int NANOS_PER_MILLI = 1_000_000;

    private Times() {}

    static String text(Instant time) {
        var at = LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC);
        if (at.getYear() < 0 || at.getYear() > MAX_YEAR) {
            return ANY.format(time);
        }
        var text = new StringBuilder("0000-00-00T00:00:00.000Z");
        write(text, 4, at.getYear());
        write(text, 7, at.getMonthValue());
        write(text, 10, at.getDayOfMonth());
        write(text, 13, at.getHour());
        write(text, 16, at.getMinute());
        write(text, 19, at.getSecond());
        write(text, 23, at.getNano() / NANOS_PER_MILLI);
        return text.toString();
    }

    /// Over the zeros that end there.
    private static void write(StringBuilder text, int end, int number) {
        for (int left = number, at = end - 1; left > 0; left /= 10, at--) {
            text.setCharAt(at, (char) ('0' + left % 10));
        }
    }
}
