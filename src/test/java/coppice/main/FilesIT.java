package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.io.IOException;
import java.net.URLEncoder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The files of a real VM over the API.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FilesIT {
    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
    }

    private String url(String call, String path, String... query) {
        var more = query.length == 0 ? "" : "&" + String.join("&", query);
        return "/v5/vms/%s/fs/%s?path=%s%s"
                .formatted(vm, call, URLEncoder.encode(path, UTF_8), more);
    }

    private Client.Answer write(String path, byte[] bytes, String... query) {
        return client.send("PUT", url("write", path, query), bytes);
    }

    private Client.Answer read(String path, String range) {
        return client.send("GET", url("read", path), new byte[0], Map.of("Range", range));
    }

    private Client.Answer mkdir(String path) {
        return client.post(
                "/v5/vms/%s/fs/mkdir".formatted(vm), "{\"path\":\"%s\"}".formatted(path));
    }

    private static String header(Client.Answer answer, String name) {
        return answer.response().headers().firstValue(name).orElse("none");
    }

    static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void bytesOfAnySizeArriveInTheGuestAndComeBackTheSame() {
        var random = Seed.random(getClass());
        int frame = 16_376;
        var sizes =
                new ArrayList<>(
                        List.of(0, 1, frame - 1, frame, frame + 1, (64 << 10) + 1, (1 << 20) - 1));
        for (int i = 0; i < 4; i++) {
            sizes.add(random.nextInt(3 << 20));
        }
        for (int size : sizes) {
            var bytes = new byte[size];
            random.nextBytes(bytes);
            var hash = sha256(bytes);
            write("/srv/bytes", bytes, "sha256=" + hash).expect(204);
            assertTrue(
                    client.run(vm, "sha256sum < /srv/bytes").startsWith(hash),
                    () -> size + " bytes");
            var answer = client.get(url("read", "/srv/bytes"));
            assertEquals(200, answer.status());
            assertArrayEquals(bytes, answer.response().body());
            assertEquals(Integer.toString(size), header(answer, "Content-Length"));
            if (size > 0) {
                int first = random.nextInt(size);
                int last = first + random.nextInt(size - first);
                var part = read("/srv/bytes", "bytes=%d-%d".formatted(first, last));
                assertEquals(206, part.status());
                assertArrayEquals(
                        Arrays.copyOfRange(bytes, first, last + 1), part.response().body());
                assertEquals(
                        "bytes %d-%d/%d".formatted(first, last, size),
                        header(part, "Content-Range"));
            }
        }
    }

    @Test
    void rangesAreAnsweredAsTheirTableSays() {
        write("/srv/ten", "0123456789".getBytes(UTF_8)).expect(204);
        client.run(vm, "ln -sf ten /srv/link; touch -d '2001-02-03 04:05:06' /srv/ten");
        var whole = client.get(url("read", "/srv/link"));
        whole.expect(200);
        assertEquals("bytes", header(whole, "Accept-Ranges"));
        assertEquals("application/octet-stream", header(whole, "Content-Type"));
        assertEquals("Sat, 03 Feb 2001 04:05:06 GMT", header(whole, "Last-Modified"));
        var parts =
                Map.of(
                        "bytes=0-0", "0",
                        "bytes=3-5", "345",
                        "bytes=7-", "789",
                        "bytes=8-99", "89",
                        "bytes=-2", "89",
                        "bytes=-99", "0123456789");
        parts.forEach(
                (range, wanted) -> {
                    var part = read("/srv/ten", range);
                    assertEquals(206, part.status(), range);
                    assertEquals(wanted, new String(part.response().body(), UTF_8), range);
                    int first = "0123456789".indexOf(wanted);
                    assertEquals(
                            "bytes %d-%d/10".formatted(first, first + wanted.length() - 1),
                            header(part, "Content-Range"));
                });
        var head = client.send("HEAD", url("read", "/srv/ten"), new byte[0]);
        assertEquals(200, head.status());
        assertEquals("10", header(head, "Content-Length"));
    }

    @Test
    void rangesThatAFileDoesNotHaveAreRefused() {
        write("/srv/none", "0123456789".getBytes(UTF_8)).expect(204);
        write("/srv/empty", new byte[0]).expect(204);
        for (var range : List.of("bytes=10-", "bytes=10-12", "bytes=-0")) {
            var none = read("/srv/none", range);
            none.expect(416, "RANGE_NOT_SATISFIABLE");
            assertEquals("bytes */10", header(none, "Content-Range"));
        }
        read("/srv/empty", "bytes=-5").expect(416, "RANGE_NOT_SATISFIABLE");
        read("/srv/empty", "bytes=0-").expect(416, "RANGE_NOT_SATISFIABLE");
        for (var range : List.of("bytes=5-4", "bytes=0-1,3-4", "lines=1-2", "bytes=x-")) {
            read("/srv/none", range).expect(400, "BAD_REQUEST");
        }
    }

    @Test
    void aWriteKeepsModeAndOwnerFollowsLinksAndMakesDirectories() {
        var bytes = "new".getBytes(UTF_8);
        write("/srv/w/deep/er/file", bytes).expect(204);
        assertEquals(
                "600 0 0\n755 0 0",
                client.run(vm, "cd /srv/w; stat -c '%a %u %g' deep/er/file deep/er"));
        write("/srv/w/run", bytes, "mode=493").expect(204);
        client.run(vm, "cd /srv/w; chown 12:34 run; ln -s run way");
        write("/srv/w/way", "newer".getBytes(UTF_8)).expect(204);
        assertEquals(
                "755 12 34 newer",
                client.run(
                        vm, "cd /srv/w; test -L way; echo $(stat -c '%a %u %g' run) $(cat run)"));
        write("/srv/w/run", bytes, "mode=4095").expect(204);
        assertEquals("7777", client.run(vm, "stat -c %a /srv/w/run"));
    }

    @Test
    void nothingIsWrittenWhenTheHashIsAnother() {
        write("/srv/h/kept", "old".getBytes(UTF_8)).expect(204);
        var other = sha256("other".getBytes(UTF_8));
        write("/srv/h/kept", "new".getBytes(UTF_8), "sha256=" + other)
                .expect(400, "CHECKSUM_MISMATCH");
        write("/srv/h/none/at/all", "new".getBytes(UTF_8), "sha256=" + other)
                .expect(400, "CHECKSUM_MISMATCH");
        assertEquals("old kept", client.run(vm, "cd /srv/h; echo $(cat kept) $(ls -A)"));
        write("/srv/h/kept", new byte[1], "sha256=12").expect(400, "BAD_REQUEST");
        write("/srv/h/kept", new byte[1], "mode=4096").expect(400, "BAD_REQUEST");
        write("/srv/h/kept", new byte[1], "mode=0644x").expect(400, "BAD_REQUEST");
    }

    @Test
    void nothingIsWrittenOfABodyThatIsCutOff() throws IOException {
        write("/srv/cut/kept", "old".getBytes(UTF_8)).expect(204);
        client.cutOff("PUT", url("write", "/srv/cut/kept"), 100_000, new byte[70_000]);
        client.cutOff("PUT", url("write", "/srv/cut/other"), 100_000, new byte[70_000]);
        assertEquals("old kept", client.run(vm, "cd /srv/cut; echo $(cat kept) $(ls -A)"));
    }

    @Test
    void bodiesOverTheLimitAreRefusedBeforeTheyAreSent() throws IOException {
        var answer = client.cutOff("PUT", url("write", "/srv/huge"), (256L << 20) + 1, new byte[0]);
        assertTrue(answer.contains(" 413 ") && answer.contains("PAYLOAD_TOO_LARGE"), answer);
    }

    @Test
    void directoriesAreListedMadeAndRemoved() {
        mkdir("/srv/d/a/b").expect(204);
        mkdir("/srv/d/a/b").expect(204);
        client.run(
                vm,
                "cd /srv/d; echo 1 > z; echo 2 > é; echo 3 > B; ln -s a link; ln -s nowhere dead; mkfifo fifo; echo 4 > .dot");
        var listed = client.get(url("dir", "/srv/d")).expect(200).requiredObjects("entries");
        assertEquals(
                List.of(
                        ".dot file",
                        "B file",
                        "a directory",
                        "dead symlink",
                        "link symlink",
                        "z file",
                        "é file"),
                listed.stream()
                        .map(e -> e.requiredString("name") + " " + e.requiredString("kind"))
                        .toList());
        mkdir("/srv/d/z").expect(409, "CONFLICT");
        client.delete(url("remove", "/srv/d/link")).expect(204);
        client.delete(url("remove", "/srv/d/z")).expect(204);
        assertEquals("b", client.run(vm, "cd /srv/d; ls a; ls z link 2>/dev/null || true"));
        client.delete(url("remove", "/srv/d")).expect(204);
        client.delete(url("remove", "/srv/d")).expect(404, "FILE_NOT_FOUND");
        client.delete(url("remove", "/./")).expect(400, "BAD_REQUEST");
    }

    @Test
    void filesAreDescribedAndLookedFor() {
        write("/srv/s/file", new byte[18], "mode=420").expect(204);
        client.run(
                vm,
                "cd /srv/s; ln -s file link; ln -s nowhere dead; mkfifo fifo; chown 4711:4712 file; touch -d '2026-03-01 09:30:00' file");
        assertEquals(
                "{\"size\":18,\"isFile\":true,\"isDirectory\":false,\"isSymlink\":false,\"permissions\":\"0644\","
                        + "\"owner\":\"4711\",\"group\":\"4712\",\"modified\":\"2026-03-01T09:30:00.000Z\"}",
                new String(client.get(url("stat", "/srv/s/file")).response().body(), UTF_8));
        var link = client.get(url("stat", "/srv/s/dead")).expect(200);
        assertTrue(link.requiredBool("isSymlink") && !link.requiredBool("isFile"));
        assertEquals("root", link.requiredString("owner"));
        var fifo = client.get(url("stat", "/srv/s/fifo")).expect(200);
        assertTrue(
                !fifo.requiredBool("isFile")
                        && !fifo.requiredBool("isDirectory")
                        && !fifo.requiredBool("isSymlink"));
        for (var found : Map.of("file", true, "link", true, "dead", false, "x", false).entrySet()) {
            var answer = client.get(url("exists", "/srv/s/" + found.getKey())).expect(200);
            assertEquals(found.getValue(), answer.requiredBool("exists"), found.getKey());
        }
        client.get(url("read", "/srv/s/fifo")).expect(400, "BAD_REQUEST");
        client.get(url("read", "/srv/s")).expect(400, "BAD_REQUEST");
        client.get(url("dir", "/srv/s/file")).expect(400, "BAD_REQUEST");
        write("/srv/s", new byte[1]).expect(400, "BAD_REQUEST");
        write("/srv/s/fifo", new byte[1]).expect(400, "BAD_REQUEST");
        client.get(url("read", "/dev/null")).expect(400, "BAD_REQUEST");
        write("/dev/null", new byte[1]).expect(400, "BAD_REQUEST");
        write("/srv/s/file/in", new byte[1]).expect(400, "BAD_REQUEST");
        for (var call : List.of("read", "dir", "stat")) {
            client.get(url(call, "/srv/s/x")).expect(404, "FILE_NOT_FOUND");
        }
    }

    @Test
    void hostilePathsAndAbsentVmsAreRefused() {
        for (var path : List.of("", "srv", "/srv/../etc/passwd", "/a\0b", "/" + "a".repeat(4096))) {
            for (var call : List.of("read", "dir", "stat", "exists")) {
                client.get(url(call, path)).expect(400, "BAD_REQUEST");
            }
            write(path, new byte[1]).expect(400, "BAD_REQUEST");
            client.delete(url("remove", path)).expect(400, "BAD_REQUEST");
        }
        mkdir("srv/../x").expect(400, "BAD_REQUEST");
        client.get("/v5/vms/%s/fs/read".formatted(vm)).expect(400, "BAD_REQUEST");
        client.get("/v5/vms/vm-%s/fs/read?path=/x".formatted("0".repeat(20)))
                .expect(404, "NOT_FOUND");
        installation.client("stranger").get(url("read", "/etc/passwd")).expect(404, "NOT_FOUND");
    }

    @Test
    void aFullDiskIsToldAndLeavesTheOldFile() {
        client.run(vm, "mkdir -p /srv/full && mount -t tmpfs -o size=1m tmpfs /srv/full");
        write("/srv/full/kept", "old".getBytes(UTF_8)).expect(204);
        write("/srv/full/kept", new byte[2 << 20]).expect(507, "DISK_FULL");
        assertEquals("old kept", client.run(vm, "cd /srv/full; echo $(cat kept) $(ls -A)"));
        client.run(
                vm, "head -c 2m /dev/zero > /srv/full/fill 2>/dev/null || true; umount /srv/full");
        client.run(vm, "mount -t tmpfs -o nr_inodes=1 tmpfs /srv/full"); // its own directory's
        mkdir("/srv/full/more").expect(507, "DISK_FULL");
        write("/srv/full/more/file", new byte[1]).expect(507, "DISK_FULL");
        assertEquals("", client.run(vm, "ls -A /srv/full; umount /srv/full"));
    }

    @Test
    void fortyReadersAtOnceEachGetTheirFile() throws Exception {
        var bytes = new byte[300_000];
        Seed.random(getClass()).nextBytes(bytes);
        write("/srv/shared", bytes).expect(204);
        // One that stalls with its window full must not keep the others from theirs.
        try (var _ = client.stalled(url("read", "/srv/shared"));
                var tasks = Executors.newVirtualThreadPerTaskExecutor()) {
            var answers =
                    java.util.stream.IntStream.range(0, 40)
                            .mapToObj(
                                    _ -> tasks.submit(() -> client.get(url("read", "/srv/shared"))))
                            .toList();
            for (var answer : answers) {
                assertArrayEquals(bytes, answer.get().response().body());
            }
        }
    }

    @Test
    void anIdentityUsesFilesIfItMayActAsRoot() {
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        var own = "/v5/identities/" + identity;
        var token = client.post(own + "/tokens", "").expect(200).requiredString("token");
        var holder = client.withToken(token);
        var id = client.get("/v5/vms/" + vm).expect(200).requiredString("id");
        var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"%s\"]}";
        var path = url("write", "/root/of-an-identity");
        client.post(own + "/permissions/vm", grant.formatted(id, "nobody")).expect(200);
        holder.send("PUT", path, new byte[5]).expect(403, "FORBIDDEN");
        client.post(own + "/permissions/vm", grant.formatted(id, "root")).expect(200);
        holder.send("PUT", path, "by it".getBytes(UTF_8)).expect(204);
        assertEquals("by it", client.run(vm, "cat /root/of-an-identity"));
        assertEquals(
                "by it",
                new String(
                        holder.get(url("read", "/root/of-an-identity")).response().body(), UTF_8));
        client.delete(own).expect(204);
        holder.send("PUT", path, new byte[5]).expect(401, "INVALID_IDENTITY_TOKEN");
        assertEquals("by it", client.run(vm, "cat /root/of-an-identity"));
    }

    @Test
    void aPausedVmIsWokenByAnyCall() {
        write("/srv/kept", "kept".getBytes(UTF_8)).expect(204);
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        var answer = client.get(url("read", "/srv/kept"));
        assertEquals("kept", new String(answer.response().body(), UTF_8));
        assertEquals("running", client.state(vm));
    }
}
