package coppice.api.legacy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.vm.GuestPath;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What somebody is told who watches the files of a VM, on a real connection.
class LegacyWatchTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SELDOM = Duration.ofSeconds(30);

    @TempDir private Path directory;
    private FileServer server;
    private String root;

    private void start(Duration beat) {
        server = new FileServer(directory, beat);
        root = server.workdir().equals("/") ? FakeTree.HOME : server.workdir();
    }

    @AfterEach
    void close() {
        server.close();
    }

    private void write(String path) {
        server.tree.write(new GuestPath(path), OptionalInt.empty(), new byte[1]);
    }

    private Set<String> watched() {
        return server.tree.watches().open;
    }

    private void awaitNoWatch() {
        Wait.until(PATIENCE, () -> watched().isEmpty(), () -> "watched: " + watched());
    }

    private static JsonObject event(String type, String path) {
        return JsonObject.of(Map.of("eventType", type, "filename", path));
    }

    private static JsonObject event(FileServer.Watcher watcher) throws IOException {
        var line = watcher.line();
        assertTrue(line.endsWith("}\n") && line.indexOf('\n') == line.length() - 1, line);
        return Json.parse(line.getBytes(UTF_8));
    }

    @Test
    void eachEventInTheWorkdirIsALineOfItsOwnAtOnce() throws IOException {
        start(SELDOM);
        try (var watcher = server.watch()) {
            assertEquals(200, watcher.head().status());
            assertTrue(watcher.head().head().contains("Content-Type: text/plain"));
            assertTrue(watcher.head().head().contains("Transfer-Encoding: chunked"));
            assertEquals(Set.of(root), watched());
            write("/elsewhere");
            write(root + "/a\n\"ä");
            assertEquals(event("create", root + "/a\n\"ä"), event(watcher));
            write(root + "/a\n\"ä");
            assertEquals(event("modify", root + "/a\n\"ä"), event(watcher));
            server.tree.remove(root + "/a\n\"ä");
            assertEquals(event("delete", root + "/a\n\"ä"), event(watcher));
        }
    }

    @Test
    void anEmptyLineComesNowAndThenWhateverHappens() throws IOException {
        start(Duration.ofMillis(100));
        try (var watcher = server.watch()) {
            int empty = 0;
            for (int events = 0; events < 3 || empty < 3; ) {
                var line = watcher.line();
                empty += line.equals("\n") ? 1 : 0;
                events += line.equals("\n") ? 0 : 1;
                write(root + "/f");
            }
        }
    }

    @Test
    void aCallerWhoGoesEndsTheWatch() throws IOException {
        start(Duration.ofMillis(50));
        try (var watcher = server.watch()) {
            assertFalse(watched().isEmpty());
            watcher.peer().close();
            awaitNoWatch();
        }
        try (var watcher = server.watch()) {
            watcher.peer().reset();
            awaitNoWatch();
        }
    }

    @Test
    void aVmThatDoesNotRunAnyMoreEndsTheAnswerInGoodOrder() throws IOException {
        start(SELDOM);
        try (var watcher = server.watch()) {
            server.tree.watches().hasEnded = true;
            assertEquals(0, watcher.peer().chunks().length);
            awaitNoWatch();
        }
    }

    @Test
    void aServerThatStopsEndsTheAnswerInGoodOrder() throws IOException {
        start(SELDOM);
        try (var watcher = server.watch()) {
            server.stop();
            assertEquals(0, watcher.peer().chunks().length);
            awaitNoWatch();
        }
    }

    @Test
    void aWatchThatIsLostCutsTheAnswer() throws IOException {
        start(SELDOM);
        try (var watcher = server.watch()) {
            server.tree.watches().failure =
                    Optional.of(new Failure(Code.PAYLOAD_TOO_LARGE, "more happened than was told"));
            assertEquals("", watcher.peer().rest(), "no end of the body");
            awaitNoWatch();
        }
    }

    @Test
    void whatASlowCallerDoesNotTakeIsNotTakenFromTheGuest() throws IOException {
        start(SELDOM);
        var watches = server.tree.watches();
        watches.isFlooded = true;
        try (var _ = server.watch()) {
            var last = new long[] {-1};
            Wait.until(
                    PATIENCE,
                    () -> {
                        long before = last[0];
                        Wait.through(Duration.ofMillis(300), () -> {});
                        last[0] = watches.taken.get();
                        return before == last[0];
                    },
                    () -> "still taken: " + watches.taken);
            assertTrue(watches.taken.get() * 4000 < 64 << 20, "taken: " + watches.taken);
        }
    }

    @Test
    void theUserOfTheHeaderWatches() throws IOException {
        start(SELDOM);
        var headers = new String[] {"X-Acme-Vm-Linux-User-Id", "app"};
        try (var watcher = server.watch(headers)) {
            assertEquals(200, watcher.head().status());
        }
        server.send("POST", "/watch-files", "", "X-Acme-Vm-Linux-User-Id", "no user")
                .expect(400, "FILES_BAD_REQUEST");
    }
}
