package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Wait;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Calls that go on in the background, over the end of their server.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BackgroundIT {
    private static final Map<String, String> AFTER = Map.of("x-svc-background-after-secs", "0.3");

    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
    }

    private static byte[] command(int timeout) {
        return "{\"command\":\"echo first; sleep 8; echo last; exit 3\",\"timeoutMs\":%d,\"linuxUser\":\"root\"}"
                .formatted(timeout)
                .getBytes(UTF_8);
    }

    @Test
    void aCommandIsPickedUpByTheNextServer() {
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        var own = "/v5/identities/" + identity;
        var token = client.post(own + "/tokens", "").expect(200).requiredString("token");
        var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"root\"]}".formatted(vm);
        client.post(own + "/permissions/vm", grant).expect(200);
        var holder = client.withToken(token);
        var path = "/v5/vms/%s/exec-await".formatted(vm);
        var old = "/v1/vms/%s/exec-await".formatted(vm);
        var polls =
                Map.of(
                        client.send("POST", path, command(600_000), AFTER), client,
                        holder.send("POST", path, command(600_000), AFTER), holder,
                        client.send("POST", old, command(300_000), AFTER), client);

        installation.killServer();
        installation.startServer();

        polls.forEach(
                (accepted, poller) -> {
                    var url = accepted.expect(202).requiredString("resultUrl");
                    requireWhole(poller, url);
                });
        client.delete(own).expect(204);
        for (var accepted : polls.keySet()) {
            holder.get(accepted.body().requiredString("resultUrl")).expect(401);
        }
    }

    private static void requireWhole(Client poller, String url) {
        Wait.until(
                Duration.ofSeconds(60), () -> poller.get(url).status() != 202, () -> "it goes on");
        var ended = poller.get(url).expect(200);
        assertEquals("first\nlast\n", ended.requiredString("stdout"));
        assertEquals(3, ended.requiredInteger("statusCode"));
    }

    @Test
    void aLongCommandNeedsADeferredCall() {
        var path = "/v5/vms/%s/exec-await".formatted(vm);
        client.send("POST", path, command(300_001)).expect(400, "BAD_REQUEST");
        client.send("POST", path, command(86_400_001), AFTER).expect(400, "BAD_REQUEST");
        var body = new String(command(86_400_000), UTF_8).replace("sleep 8", "true");
        var id =
                client.send(
                        "POST",
                        path,
                        body.getBytes(UTF_8),
                        Map.of("x-svc-background-after-secs", "60"));
        assertEquals("first\nlast\n", id.expect(200).requiredString("stdout"));
    }

    @Test
    void aCreateGoesOnWithoutItsCaller() {
        var after = Map.of("x-svc-background-after-secs", "0");
        var body = "{\"firewall\":{\"rules\":[]}}".getBytes(UTF_8);
        var url =
                client.send("POST", "/v5/vms", body, after).expect(202).requiredString("resultUrl");
        Wait.until(
                Duration.ofSeconds(60), () -> client.get(url).status() != 202, () -> "it goes on");
        var made = client.get(url).expect(200).requiredString("id");
        assertEquals("running", client.state(made));
        client.delete("/v5/vms/" + made).expect(204);
    }
}
