package coppice.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessLogTest {
    @TempDir private Path directory;

    private Path place() {
        return directory.resolve("access");
    }

    private List<String> lines() throws IOException {
        var lines = Files.readAllLines(place().resolve("access.log"));
        return lines.stream().map(AccessLogTest::afterTheTime).toList();
    }

    private static String afterTheTime(String line) {
        var parts = line.split(" ", 2);
        var told = Duration.between(Instant.parse(parts[0]), Instant.now());
        assertTrue(!told.isNegative() && told.toMinutes() < 2, line);
        return parts[1];
    }

    @Test
    void aLineIsThereAMomentLaterAndAllOfThemWhenTheLogIsClosed() throws IOException {
        try (var log = AccessLog.open(place(), Size.ofMib(1), 2)) {
            log.write("first");
            Wait.until(
                    Duration.ofSeconds(20),
                    () -> place().resolve("access.log").toFile().length() > 0,
                    () -> "nothing was written");
            IntStream.range(0, 1000).forEach(i -> log.write("line " + i));
        }
        assertEquals(1001, lines().size());
        assertEquals("line 999", lines().getLast());
    }

    @Test
    void whatCannotBeWrittenInTimeIsCountedAndNobodyWaits() throws IOException {
        int many = 200_000;
        long begun = System.nanoTime();
        try (var log = AccessLog.open(place(), Size.ofMib(64), 2)) {
            for (int i = 0; i < many; i++) {
                log.write("x");
            }
            assertTrue(System.nanoTime() - begun < Duration.ofSeconds(20).toNanos());
        }
        long written = lines().stream().filter("x"::equals).count();
        long leftOut =
                lines().stream()
                        .filter(line -> line.endsWith(" lines were left out"))
                        .mapToLong(line -> Long.parseLong(line.split(" ")[0]))
                        .sum();
        assertTrue(leftOut > 0);
        assertEquals(many, written + leftOut);
    }

    @Test
    void theFilesStayWithinTheirSize() throws IOException, InterruptedException {
        for (int i = 0; i < 10; i++) {
            try (var log = AccessLog.open(place(), new Size(5000), 3)) {
                IntStream.range(0, 100).forEach(n -> log.write("line %03d".formatted(n)));
            }
        }
        try (var files = Files.list(place())) {
            var sizes = files.map(file -> file.toFile().length()).toList();
            assertEquals(3, sizes.size());
            assertTrue(sizes.stream().allMatch(size -> size <= 5000), sizes.toString());
        }
        assertEquals("line 099", lines().getLast());
    }
}
