package coppice.json;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimesTest {
    private static final DateTimeFormatter KNOWN =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    @ParameterizedTest
    @CsvSource({
        "1970-01-01T00:00:00Z, 1970-01-01T00:00:00.000Z",
        "2026-03-01T09:30:00.999999999Z, 2026-03-01T09:30:00.999Z",
        "2024-02-29T23:59:59.001Z, 2024-02-29T23:59:59.001Z",
        "0000-01-01T00:00:00Z, 0000-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z, 9999-12-31T23:59:59.999Z",
        "-0001-12-31T23:59:59.999Z, -0001-12-31T23:59:59.999Z",
        "+10000-01-01T00:00:00Z, +10000-01-01T00:00:00.000Z"
    })
    void aTimeIsWrittenInUtcWithMilliseconds(String time, String written) {
        assertEquals(written, Times.text(Instant.parse(time)));
    }

    @Test
    void everyTimeIsWrittenAsTheJdkWritesIt() {
        var random = Seed.random(TimesTest.class);
        for (int i = 0; i < 10_000; i++) {
            var time =
                    Instant.ofEpochSecond(
                            random.nextLong(-62_200_000_000L, 253_500_000_000L),
                            random.nextInt(1_000_000_000));
            assertEquals(KNOWN.format(time), Times.text(time));
        }
    }
}
