package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.util.Base64;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Commands in a real VM.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ExecIT {
    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
    }

    private JsonObject exec(String body) {
        return client.post("/v5/vms/%s/exec-await".formatted(vm), body).expect(200);
    }

    @Test
    void outputErrorAndStatusComeApart() {
        var result = exec("{\"command\":\"echo out; echo err >&2; exit 7\"}");
        assertEquals("out\n", result.requiredString("stdout"));
        assertEquals("err\n", result.requiredString("stderr"));
        assertEquals(7, result.requiredInteger("statusCode"));
        assertTrue(!result.has("truncated"));
    }

    @Test
    void anIdentityRunsCommandsAsWhomItMayUntilThatIsTakenBack() {
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        var own = "/v5/identities/" + identity;
        var token = client.post(own + "/tokens", "").expect(200).requiredString("token");
        var id = client.get("/v5/vms/" + vm).expect(200).requiredString("id");
        var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"root\"]}".formatted(id);
        client.post(own + "/permissions/vm", grant).expect(200);
        installation.killServer();
        installation.startServer();

        var holder = client.withToken(token);
        var path = "/v5/vms/%s/exec-await".formatted(vm);
        var asRoot = "{\"command\":\"id -un\",\"linuxUser\":\"root\"}";
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        assertEquals("root\n", holder.post(path, asRoot).expect(200).requiredString("stdout"));
        holder.post(path, Client.exec("true")).expect(400, "BAD_REQUEST");
        holder.post(path, asRoot.replace("root", "nobody")).expect(403, "LINUX_USER_NOT_ALLOWED");
        var old = "/v1/vms/%s/exec-await".formatted(vm);
        var oldRoot = holder.with("X-Svc-Vm-Linux-User-Id", "root");
        assertEquals(
                "root\n",
                oldRoot.post(old, Client.exec("id -un")).expect(200).requiredString("stdout"));
        holder.post("/v5/vms/%s/pause".formatted(vm), "").expect(403, "FORBIDDEN");

        client.delete(own + "/permissions/vm/" + id).expect(204);
        holder.post(path, asRoot).expect(404, "NOT_FOUND");
        oldRoot.post(old, Client.exec("id -un")).expect(404, "VM_NOT_FOUND");
        client.delete(own).expect(204);
        holder.post(path, asRoot).expect(401, "INVALID_IDENTITY_TOKEN");
    }

    @Test
    void aSignalIs128AndItsNumber() {
        assertEquals(128 + 9, exec("{\"command\":\"kill -9 $$\"}").requiredInteger("statusCode"));
    }

    @Test
    void theTimeLimitKillsTheWholeProcessGroupAndTheStatusIsNull() {
        var result =
                exec("{\"command\":\"echo begun; sleep 4567 & sleep 4567\",\"timeoutMs\":5000}");
        assertTrue(result.isNull("statusCode"));
        assertEquals("begun\n", result.requiredString("stdout"));
        assertEquals("0", client.run(vm, "ps | grep -c '[s]leep 4567' || true"));
    }

    @Test
    void environmentStdinAndHomeReachTheCommand() {
        var stdin =
                Base64.getEncoder()
                        .encodeToString(
                                "line one\nline two\n"
                                        .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        var result =
                exec(
                        "{\"command\":\"pwd; echo $GREETING; cat\",\"env\":{\"GREETING\":\"hello there\"},\"stdin\":\"%s\"}"
                                .formatted(stdin));
        assertEquals("/root\nhello there\nline one\nline two\n", result.requiredString("stdout"));
    }

    @Test
    void aMebibyteOfStdinArrivesWhole() {
        var bytes = new byte[1 << 20];
        new java.util.Random(5).nextBytes(bytes);
        var result =
                exec(
                        "{\"command\":\"sha256sum; sleep 0\",\"stdin\":\"%s\"}"
                                .formatted(Base64.getEncoder().encodeToString(bytes)));
        assertEquals(sha256(bytes), result.requiredString("stdout").substring(0, 64));
    }

    @Test
    void outputIsKeptUpToFourMebibytesAndTheRestIsToldOf() {
        var whole =
                exec(
                        "{\"command\":\"head -c 4194304 /dev/zero | tr '\\\\0' x\",\"timeoutMs\":120000}");
        assertEquals(4194304, whole.requiredString("stdout").length());
        assertTrue(!whole.has("truncated"));

        var more =
                exec(
                        "{\"command\":\"head -c 4194305 /dev/zero | tr '\\\\0' x; echo end >&2\",\"timeoutMs\":120000}");
        assertEquals(4194304, more.requiredString("stdout").length());
        assertEquals("end\n", more.requiredString("stderr"));
        assertEquals(Optional.of(true), more.bool("truncated"));
    }

    @Test
    void bytesThatAreNoUtf8AreReplaced() {
        assertEquals(
                "a\uFFFDb", exec("{\"command\":\"printf 'a\\\\377b'\"}").requiredString("stdout"));
    }

    @Test
    void aBackgroundProcessDoesNotHoldTheAnswerAndLivesOn() {
        assertEquals("", client.run(vm, "sleep 7654 &"));
        assertEquals("1", client.run(vm, "ps | grep -c '[s]leep 7654'"));
    }

    @Test
    void aUserOfTheGuestRunsTheCommandWithItsGroups() {
        client.run(
                vm,
                "echo worker:x:2000:2000::/home/worker:/bin/sh >> /etc/passwd; echo worker:x:2000: >> /etc/group");
        client.run(vm, "echo team:x:2001:worker >> /etc/group; mkdir -p /home/worker");
        var result = exec("{\"command\":\"id; pwd; echo $USER $HOME\",\"linuxUser\":\"worker\"}");
        var text = result.requiredString("stdout");
        assertTrue(text.contains("uid=2000(worker)") && text.contains("2001(team)"), text);
        assertTrue(text.contains("/home/worker\nworker /home/worker"), text);
    }

    @Test
    void aCommandLargerThanTheKernelsLimitForOneArgumentRuns() {
        var text = "x".repeat(200_000);
        var result = exec(Client.exec("echo " + text + " | wc -c"));
        assertEquals("200001", result.requiredString("stdout").strip());
    }

    @Test
    void aCommandGoesOnThroughAPauseAndItsOutputIsWhole() throws InterruptedException {
        var answer = new java.util.concurrent.atomic.AtomicReference<JsonObject>();
        var long_ =
                Thread.startVirtualThread(
                        () ->
                                answer.set(
                                        exec(
                                                Client.exec(
                                                        "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done; exit 3"))));
        client.run(vm, "true");
        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        long_.join();
        assertEquals("1\n2\n3\n4\n5\n6\n", answer.get().requiredString("stdout"));
        assertEquals(3, answer.get().requiredInteger("statusCode"));
    }

    private static String sha256(byte[] bytes) {
        try {
            return java.util.HexFormat.of()
                    .formatHex(java.security.MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
