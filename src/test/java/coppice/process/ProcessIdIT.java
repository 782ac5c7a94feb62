package coppice.process;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessIdIT {
    private static final String PROGRAM =
            """
            #include <pthread.h>
            #include <unistd.h>
            static void *rest(void *x) { for (;;) pause(); return x; }
            int main(void) {
                pthread_t thread;
                if (pthread_create(&thread, 0, rest, 0)) return 1;
                pthread_exit(0);
            }
            """;

    @TempDir private Path directory;

    @Test
    void aProcessWhoseFirstThreadEndedIsAliveAndCanBeKilled() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "skipped: there is no gcc");
        var source = Files.writeString(directory.resolve("headless.c"), PROGRAM);
        var program = directory.resolve("headless").toString();
        Command.of("gcc", "-pthread", "-o", program, source.toString())
                .runOrFail(Deadline.in(Duration.ofSeconds(60)));
        try (var child = new Child("exec \"$1\"", program)) {
            Child.await("a headless process", () -> isHeadless(child.pid()));
            var id = ProcessId.of(child.pid());
            assertTrue(id.isPresent(), "its other thread goes on, and it was taken for gone");
            id.get().kill();
            Child.await("its death", () -> !child.isAlive());
        }
    }

    private static boolean isHeadless(long pid) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), "stat"))
                    .contains("(headless) Z ");
        } catch (java.io.IOException e) {
            return false;
        }
    }
}
