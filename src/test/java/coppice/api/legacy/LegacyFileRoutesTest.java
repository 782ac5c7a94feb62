package coppice.api.legacy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.GuestPath;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LegacyFileRoutesTest {
    private static final String USER = "X-Acme-Vm-Linux-User-Id";
    private static final int MAX = 10 << 20;

    @TempDir private Path directory;
    private FileServer server;

    @BeforeEach
    void open() {
        server = new FileServer(directory, Duration.ofSeconds(30));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private void keep(String path, byte[] content) {
        server.tree.write(new GuestPath(path), OptionalInt.empty(), content);
    }

    private byte[] kept(String path) {
        return server.tree.read(new GuestPath(path), new Size(2 * MAX));
    }

    private int mode(String path) {
        return server.tree.stat(new GuestPath(path)).mode();
    }

    private FileServer.Answer putBase64(String path, String content) {
        var body = new JsonWriter().put("content", content).put("encoding", "base64");
        return server.send("PUT", FileServer.encoded(path), FileServer.json(body));
    }

    @Test
    void textComesAsItIsAndOtherBytesComeInBase64Encoding() {
        var random = Seed.random(getClass());
        for (int round = 0; round < 40; round++) {
            var bytes = round % 2 == 0 ? text(random).getBytes(UTF_8) : bytes(random);
            keep("/a", bytes);
            var found = server.get("/a").expect(200);
            assertEquals(Set.of("content", "encoding"), found.fields());
            boolean isText = Arrays.equals(bytes, new String(bytes, UTF_8).getBytes(UTF_8));
            assertEquals(isText ? "utf8" : "base64", found.requiredString("encoding"));
            var content = found.requiredString("content");
            assertArrayEquals(
                    bytes, isText ? content.getBytes(UTF_8) : Base64.getDecoder().decode(content));
        }
    }

    private static String text(Random random) {
        var text = new StringBuilder();
        for (int i = random.nextInt(3000); i > 0; i--) {
            int c = random.nextInt(random.nextBoolean() ? 128 : 0x110000);
            text.appendCodePoint(c >= 0xD800 && c < 0xE000 ? 0xFEFF : c);
        }
        return text.toString();
    }

    private static byte[] bytes(Random random) {
        var bytes = new byte[random.nextInt(200_000)];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"\u00ff", "\u00c0\u00af", "\u00ed\u00a0\u0080", "a\u00c3", "\u0080"})
    void whatIsNearlyUtf8IsNone(String bytes) {
        keep("/a", bytes.getBytes(ISO_8859_1));
        assertEquals("base64", server.get("/a").expect(200).requiredString("encoding"));
    }

    @Test
    void anEmptyFileIsAnEmptyText() {
        server.put("/empty", "").expect(200);
        assertEquals(0, kept("/empty").length);
        assertEquals(
                JsonObject.of(Map.of("content", "", "encoding", "utf8")),
                server.get("/empty").expect(200));
    }

    @Test
    void whatIsWrittenIsThereWithItsDirectoriesAndAModeForAll() {
        assertEquals("{}", server.put("/new/dir/f", "one ä\n").text());
        assertEquals("one ä\n", new String(kept("/new/dir/f"), UTF_8));
        assertEquals(0644, mode("/new/dir/f"));
        putBase64("/new/g", "AAH/").expect(200);
        assertArrayEquals(new byte[] {0, 1, -1}, kept("/new/g"));
        server.tree.write(new GuestPath("/run"), OptionalInt.of(0755), new byte[1]);
        server.put("/run", "two").expect(200);
        assertEquals(0755, mode("/run"), "what is there keeps its mode");
        var body = new JsonWriter().put("content", "AAH/").put("encoding", "utf8");
        server.send("PUT", FileServer.encoded("/new/g"), FileServer.json(body)).expect(200);
        assertEquals("AAH/", new String(kept("/new/g"), UTF_8));
    }

    @Test
    void aFileOfTenMebibytesIsTheLargest() {
        var most = "a".repeat(MAX);
        server.put("/most", most).expect(200);
        assertEquals(most, server.get("/most").expect(200).requiredString("content"));
        server.put("/more", most + "a").expect(400, "FILES_BAD_REQUEST");
        server.get("/more").expect(404, "FILE_NOT_FOUND");
        var bytes = new byte[MAX];
        bytes[MAX - 1] = -1;
        putBase64("/most", Base64.getEncoder().encodeToString(bytes)).expect(200);
        assertArrayEquals(bytes, kept("/most"));
        keep("/more", new byte[MAX + 1]);
        server.get("/more").expect(400, "FILES_BAD_REQUEST");
        putBase64("/most", Base64.getEncoder().encodeToString(new byte[MAX + 1]))
                .expect(400, "FILES_BAD_REQUEST");
    }

    @ParameterizedTest
    @ValueSource(strings = {"AAH", "AB==", "AAH/\n", "AA H", "AA-_", "AAH=x", "=", "ä"})
    void whatIsNotExactlyBase64IsRefusedAndNothingIsWritten(String content) {
        putBase64("/b", content).expect(400, "FILES_BAD_REQUEST");
        server.get("/b").expect(404, "FILE_NOT_FOUND");
    }

    @Test
    void bodiesThatAreNoFileAreRefused() {
        for (var body :
                List.of(
                        "",
                        "{}",
                        "{\"content\":null}",
                        "{\"content\":\"\",\"encoding\":\"UTF8\"}")) {
            server.send("PUT", FileServer.encoded("/b"), body).expect(400, "FILES_BAD_REQUEST");
        }
        server.send("PUT", FileServer.encoded("/b"), "{\"content\":1}").expect(400, "BAD_REQUEST");
        server.get("/b").expect(404, "FILE_NOT_FOUND");
    }

    @Test
    void aDirectoryIsListedInTheOrderOfItsNames() {
        for (var path : List.of("/d/ä", "/d/z", "/d/a/b", "/d/B")) {
            keep(path, new byte[1]);
        }
        assertEquals(
                "{\"files\":[{\"name\":\"B\",\"kind\":\"file\"},{\"name\":\"a\",\"kind\":\"directory\"},"
                        + "{\"name\":\"z\",\"kind\":\"file\"},{\"name\":\"ä\",\"kind\":\"file\"}]}",
                server.get("/d").text());
        server.tree.remove("/d/a/b");
        assertEquals("{\"files\":[]}", server.get("/d/a").text());
    }

    @ParameterizedTest
    @CsvSource({
        "/files/%2Fp%2Fa%20b, /p/a b",
        "/files/%2Fp/a%20b, /p/a b",
        "/files//p/a%20b, /p/a b",
        "/files//p//a%20b, /p//a b",
        "/files/%2Fp%2Fa%2520b, /p/a%20b",
        "/files//p/a%20b/, /p/a b",
        "/files/%2Fp%2Fa%20b/, /p/a b",
        "/files/p/a%20b, p/a b",
        "/files/p%2Fa%20b, p/a b",
        "/files/p, p",
        "/files/p/, p",
        "/files/a/files/b, a/files/b",
        "/files/v1/vms/x/files/b, v1/vms/x/files/b"
    })
    void aPathIsOneEncodedSegmentOrPlainAndStandsUnderTheWorkdirUnlessItIsAbsolute(
            String address, String path) {
        var absolute =
                path.startsWith("/") ? path : server.workdir().replaceAll("/$", "") + "/" + path;
        keep(absolute, "found".getBytes(UTF_8));
        var found = server.send("GET", address, "").expect(200);
        assertEquals("found", found.requiredString("content"));
        server.send("PUT", address, "{\"content\":\"written\"}").expect(200);
        assertEquals("written", new String(kept(absolute), UTF_8));
    }

    @Test
    void theRootDirectoryHasAPathToo() {
        keep("/only", new byte[0]);
        for (var address : List.of("/files/%2F", "/files//", "/files/%2F/", "/files///")) {
            assertTrue(server.send("GET", address, "").expect(200).has("files"), address);
        }
        for (var none : List.of("/files", "/files/")) {
            assertEquals(404, server.send("GET", none, "").status(), none);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/../b", "..", "../x", "/..", "a/.."})
    void pathsThatLeadUpwardsAreRefused(String path) {
        server.get(path).expect(400, "FILES_BAD_REQUEST");
        server.put(path, "x").expect(400, "FILES_BAD_REQUEST");
        server.send("GET", "/files/" + path, "").expect(400, "FILES_BAD_REQUEST");
    }

    @Test
    void pathsThatAreNoneAreRefused() {
        server.get("/" + "a".repeat(4096)).expect(400, "FILES_BAD_REQUEST");
        for (var broken : List.of("%2Fa%00b", "%2Fa%ffb")) {
            var answer = server.send("GET", "/files/" + broken, "").expect(400);
            assertEquals("BAD_REQUEST", answer.requiredString("code"), broken);
        }
        keep("/f", new byte[1]);
        server.put("/", "x").expect(400, "FILES_BAD_REQUEST");
        keep("/d/f", new byte[1]);
        server.put("/d", "x").expect(400, "FILES_BAD_REQUEST");
    }

    @Test
    void whatIsAbsentIsToldWithItsPathOrTheVmsName() {
        assertEquals(
                "/no/where",
                server.get("/no/where").expect(404, "FILE_NOT_FOUND").requiredString("path"));
        assertEquals(
                server.workdir().replaceAll("/$", "") + "/x",
                server.get("x").expect(404, "FILE_NOT_FOUND").requiredString("path"));
        for (var call : List.of("GET /files/x", "PUT /files/x", "POST /watch-files")) {
            var parts = call.split(" ");
            server.sendTo("/v1/vms/nothing" + parts[1], parts[0], "").expect(404, "VM_NOT_FOUND");
        }
        assertEquals(
                "nothing",
                server.sendTo("/v1/vms/nothing/files/..", "GET", "", USER, "no user")
                        .expect(404, "VM_NOT_FOUND")
                        .requiredString("vmId"));
    }

    @Test
    void theUserOfTheHeaderMayDoWhatThatUserMay() {
        keep("/secret/f", "s".getBytes(UTF_8));
        server.get("/secret/f").expect(200);
        server.get("/secret/f", USER, "root").expect(200);
        server.get("/secret/f", "X-Svc-Vm-Linux-User-Id", "root").expect(200);
        server.get("/secret/f", USER, "app").expect(403, "ACCESS_DENIED");
        server.get("/secret", USER, "app").expect(403, "ACCESS_DENIED");
        server.put("/secret/f", "x", USER, "app").expect(403, "ACCESS_DENIED");
        assertEquals("s", new String(kept("/secret/f"), UTF_8));
        server.get("/secret/f", USER, "no user").expect(400, "FILES_BAD_REQUEST");
    }

    @ParameterizedTest
    @CsvSource({
        "CONFLICT, 409, CONFLICT",
        "RATE_LIMITED, 429, RATE_LIMITED",
        "UNAVAILABLE, 503, UNAVAILABLE",
        "VM_START_TIMEOUT, 504, VM_START_TIMEOUT",
        "DISK_FULL, 507, DISK_FULL",
        "INTERNAL_ERROR, 500, INTERNAL_ERROR",
        "PAYLOAD_TOO_LARGE, 400, FILES_BAD_REQUEST",
        "BAD_REQUEST, 400, FILES_BAD_REQUEST",
        "ACCESS_DENIED, 403, ACCESS_DENIED",
        "NOT_FOUND, 404, VM_NOT_FOUND"
    })
    void aVmThatCannotBeUsedIsToldByEachCall(Code why, int status, String told) {
        server.refuse(new Failure(why, "so it is"));
        server.get("/f").expect(status, told);
        server.put("/f", "x").expect(status, told);
        server.send("POST", "/watch-files", "").expect(status, told);
    }
}
