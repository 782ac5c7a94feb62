package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.Wait;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The legacy calls for the files of a real VM, by root and by a user of it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LegacyFilesIT {
    private static final String USER = "X-Svc-Vm-Linux-User-Id";
    private static final int MAX = 10 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @AutoClose private Installation installation;
    private Client client;
    private Client app;
    private String id;
    private String path;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        app = client.with(USER, "app");
        id =
                client.post(
                                "/v1/vms",
                                "{\"workdir\":\"/srv/app\",\"users\":[{\"name\":\"app\",\"uid\":1000}]}")
                        .expect(200)
                        .requiredString("id");
        path = "/v1/vms/" + id.substring(3);
        root(id, "cd /srv && mv app real && ln -s real app"); // as deployments do
    }

    /// Runs a command as root; the default user is the app's.
    private String root(String vm, String command) {
        var result =
                client.with(USER, "root")
                        .post("/v1/vms/%s/exec-await".formatted(vm), Client.exec(command))
                        .expect(200);
        assertEquals(0, result.requiredInteger("statusCode"), result.requiredString("stderr"));
        return result.requiredString("stdout").stripTrailing();
    }

    private String url(String file) {
        return path + "/files/" + URLEncoder.encode(file, UTF_8).replace("+", "%20");
    }

    private static Client.Answer put(Client caller, String url, String content, String encoding) {
        var body = new JsonWriter().put("content", content).put("encoding", encoding);
        return caller.send("PUT", url, Json.write(body));
    }

    private Client.Answer put(String file, byte[] bytes) {
        return put(client, url(file), Base64.getEncoder().encodeToString(bytes), "base64");
    }

    private byte[] bytes(String file) {
        var found = client.get(url(file)).expect(200);
        var content = found.requiredString("content");
        return found.requiredString("encoding").equals("utf8")
                ? content.getBytes(UTF_8)
                : Base64.getDecoder().decode(content);
    }

    @Test
    void bytesOfAllKindsArriveInTheGuestAndComeBack() {
        var random = Seed.random(getClass());
        var hashes = new ArrayList<String>();
        for (int size : List.of(0, 1, 70_000, MAX)) {
            var bytes = new byte[size];
            random.nextBytes(bytes);
            assertEquals(JsonObject.empty(), put("dir/of bytes " + size, bytes).expect(200));
            assertArrayEquals(bytes, bytes("/srv/app/dir/of bytes " + size));
            hashes.add(FilesIT.sha256(bytes));
        }
        assertEquals(
                "%s %s %s 644 755".formatted(hashes.get(0), hashes.get(1), hashes.get(2)),
                root(
                        id,
                        """
                        truncate -s %d /srv/more; cd /srv/real
                        for f in 0 1 70000; do sha256sum < "dir/of bytes $f" | cut -c1-64; done | xargs -n 3 echo -n
                        echo "" $(stat -c %%a dir/*1 dir)
                        """
                                .formatted(MAX + 1)));
        client.get(url("/srv/more")).expect(400, "FILES_BAD_REQUEST");
    }

    @Test
    void aUserOfTheVmMayDoWhatThatUserMay() {
        root(id, "echo s > /srv/s; chmod 600 /srv/s; mkdir -m 700 /srv/d; ln -s s /srv/way");
        put(app, path + "/files//home/app/deep/f", "x", "utf8").expect(200);
        put(client, url("/home/app/deep/f"), "ä\n", "utf8").expect(200);
        assertEquals("s\n", client.get(url("/srv/way")).expect(200).requiredString("content"));
        for (var denied : List.of("/srv/s", "/srv/way", "/srv/d", "/srv/d/x")) {
            app.get(url(denied)).expect(403, "ACCESS_DENIED");
        }
        for (var denied : List.of("/srv/s", "/srv/new", "/srv/d/x")) {
            put(app, url(denied), "x", "utf8").expect(403, "ACCESS_DENIED");
        }
        assertEquals(
                "app:app 644 ä s",
                root(id, "cd ~app/deep; echo $(stat -c '%U:%G %a' f; cat f /srv/s; ls -A /srv/d)"));
        client.with(USER, "nobody-here").get(url("/srv")).expect(400, "FILES_BAD_REQUEST");
    }

    @Test
    void aDirectoryShowsLinksAsWhatTheyPointTo() {
        root(
                id,
                "mkdir -p /srv/l/dir; cd /srv/l; echo > é; echo > .f; ln -s dir to-dir; ln -s é to-f; ln -s nowhere dead; mkfifo fifo");
        var listed = client.get(path + "/files//srv/l/").expect(200);
        assertEquals(
                List.of(".f file", "dir directory", "to-dir directory", "to-f file", "é file"),
                listed.requiredObjects("files").stream()
                        .map(
                                file ->
                                        file.requiredString("name")
                                                + " "
                                                + file.requiredString("kind"))
                        .toList());
        assertEquals(Set.of("files"), client.get(url("/srv/l/to-dir")).expect(200).fields());
        client.get(url("/srv/l/dead")).expect(404, "FILE_NOT_FOUND");
        client.get(url("/srv/l/fifo")).expect(400, "FILES_BAD_REQUEST");
        client.get(url("/srv/l/é/x")).expect(400, "FILES_BAD_REQUEST");
        put(client, url("/srv/l/to-dir"), "x", "utf8").expect(400, "FILES_BAD_REQUEST");
        put(client, url("/srv/l/dead"), "x", "utf8").expect(200);
        assertEquals("644 x", root(id, "cd /srv/l; echo $(stat -c %a nowhere) $(cat nowhere)"));
        installation.client("stranger").get(url("/srv/l")).expect(404, "VM_NOT_FOUND");
    }

    /// A caller who watches from another thread, and hears all of the answer when it has ended.
    private static final class Watcher {
        private final ByteArrayOutputStream told = new ByteArrayOutputStream();
        private final Thread thread;

        Watcher(Client caller, String vm) {
            thread = Thread.startVirtualThread(() -> watch(caller, vm));
        }

        private void watch(Client caller, String vm) {
            try {
                var path = "/v1/vms/%s/watch-files".formatted(vm);
                caller.cutOff("POST", path, 0, new byte[0], told);
            } catch (IOException e) {
                told.writeBytes("disconnected".getBytes(UTF_8));
            }
        }

        void await(String text) {
            Wait.until(PATIENCE, () -> told.toString(UTF_8).contains(text), told::toString);
        }

        void disconnect() {
            thread.interrupt();
        }

        String answer() throws InterruptedException {
            assertTrue(thread.join(PATIENCE), "the answer does not end");
            return told.toString(UTF_8);
        }

        /// As `create /a`, of an answer that ended in good order.
        List<String> lines() throws InterruptedException {
            var answer = answer();
            assertTrue(
                    answer.startsWith("HTTP/1.1 200 ") && answer.endsWith("\r\n0\r\n\r\n"), answer);
            return answer.lines()
                    .filter(line -> line.startsWith("{"))
                    .map(line -> Json.parse(line.getBytes(UTF_8)))
                    .map(
                            event ->
                                    event.requiredString("eventType")
                                            + " "
                                            + event.requiredString("filename"))
                    .toList();
        }
    }

    /// How many directories are watched in the guest.
    private int watched(String vm) {
        return Integer.parseInt(
                root(vm, "cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -c '^inotify' || true"));
    }

    private void awaitWatched(String vm, int directories) {
        Wait.until(
                PATIENCE,
                () -> watched(vm) == directories,
                () -> watched(vm) + " instead of " + directories);
    }

    @Test
    void whatHappensIsToldUntilTheVmIsPausedWhichAWatchDoesNotHinder() throws Exception {
        root(id, "rm -rf /srv/real/*; mkdir /srv/real/sub");
        var watcher = new Watcher(client, id);
        awaitWatched(id, 2);
        root(id, "cd /srv/real; echo > a; mv a sub/b; rm sub/b; echo > /srv/elsewhere");
        client.patch("/v5/vms/" + id, "{\"idleTimeoutSeconds\":1}").expect(200);
        assertEquals(
                List.of(
                        "create /srv/app/a",
                        "modify /srv/app/a",
                        "rename /srv/app/sub/b",
                        "delete /srv/app/sub/b"),
                watcher.lines());
        Wait.until(PATIENCE, () -> client.state(id).equals("paused"), () -> "it is not yet paused");
        client.patch("/v5/vms/" + id, "{\"idleTimeoutSeconds\":-1}").expect(200);
    }

    @Test
    void aCallerWhoGoesEndsTheWatchInTheGuest() {
        root(id, "rm -rf /srv/real/*");
        var watcher = new Watcher(client, id);
        awaitWatched(id, 1);
        watcher.disconnect();
        Wait.until(
                PATIENCE,
                () -> {
                    root(id, "echo > /srv/real/f"); // a caller who is gone is noticed by that
                    return watched(id) == 0;
                },
                () -> "the guest still watches");
    }

    @Test
    void anAnswerIsCutWhenTheGuestGoesOnWithoutItsWatch() throws Exception {
        root(id, "rm -rf /srv/real/*");
        var watcher = new Watcher(client, id);
        awaitWatched(id, 1);
        root(
                id,
                "cd /proc; for p in [0-9]*; do grep -qs ^inotify $p/fdinfo/* && kill -9 $p; done; true");
        var answer = watcher.answer();
        assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
        assertFalse(answer.contains("\r\n0\r\n"), answer);
    }

    @Test
    void withoutAWorkdirTheHomeOfTheDefaultUserIsWatched() throws Exception {
        var copy =
                client.post(path + "/fork", "{\"workdir\":\"/\"}")
                        .expect(200)
                        .requiredObjects("forks")
                        .getFirst()
                        .requiredString("id");
        var watcher = new Watcher(client, copy);
        Wait.until(PATIENCE, () -> watched(copy) > 0, () -> "nothing is watched");
        root(copy, "mkdir ~app/new");
        watcher.await("/new");
        client.post("/v1/vms/%s/kill".formatted(copy), "").expect(200);
        assertEquals(List.of("create /home/app/new"), watcher.lines());
        client.delete("/v1/vms/" + copy).expect(200);
    }
}
