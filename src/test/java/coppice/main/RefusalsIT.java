package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Wait;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The rows of the error tables of contract/vms.md for what is served. A refused request changes nothing.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RefusalsIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        client.createVm("{\"slug\":\"here\"," + NO_RULES + "}");
    }

    @Test
    void anUpdateRefusesWhatACreateRefusesAndChangesNothing() {
        var other = client.createVm("{\"slug\":\"other\"," + NO_RULES + "}");
        var before = client.get("/v5/vms/here").expect(200);

        client.patch("/v5/vms/here", "{\"slug\":\"Bad\"}").expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"idleTimeoutSeconds\":0}").expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"displayName\":\"fine\",\"metadata\":{\"a,b\":\"c\"}}")
                .expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"reassignSlug\":true,\"slug\":\"\"}")
                .expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"slug\":\"other\"}").expect(409, "CONFLICT");

        var after = client.get("/v5/vms/here").expect(200);
        assertEquals(before.string("slug"), after.string("slug"));
        assertEquals(before.string("displayName"), after.string("displayName"));
        assertEquals(before.string("updatedAt"), after.string("updatedAt"));
        client.delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void theWrongStateIsAConflictAndTheTargetStateIsNot() {
        var mine = client.createVm();
        client.post("/v5/vms/%s/start".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/resize".formatted(mine), "{\"storage\":5000}")
                .expect(409, "CONFLICT");
        client.post("/v1/vms/%s/resize".formatted(mine), "{\"rootfsSizeGb\":5}")
                .expect(409, "CONFLICT");
        client.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/kill".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(409, "CONFLICT");
        client.post("/v5/vms/%s/resize".formatted(mine), "{\"storage\":5000}")
                .expect(409, "CONFLICT");
        client.delete("/v5/vms/" + mine).expect(204);
        for (var verb : new String[] {"start", "pause", "stop", "kill", "resize", "exec-await"}) {
            client.post("/v5/vms/%s/%s".formatted(mine, verb), "{\"command\":\"true\",\"cpu\":1}")
                    .expect(404, "NOT_FOUND");
        }
    }

    @Test
    void aSpentRunBudgetRefusesEveryStartAndWakeUntilItIsRaised() {
        var mine = client.createVm("{\"maxRunTotalSeconds\":1," + NO_RULES + "}");
        Wait.until(
                Duration.ofSeconds(30),
                () -> client.state(mine).equals("paused"),
                () -> "it runs on beyond its budget");

        client.post("/v5/vms/%s/start".formatted(mine), "{}").expect(409, "CONFLICT");
        client.post("/v5/vms/%s/exec-await".formatted(mine), Client.exec("true"))
                .expect(409, "CONFLICT");
        assertEquals("paused", client.state(mine));

        client.patch("/v5/vms/" + mine, "{\"maxRunTotalSeconds\":-1}").expect(200);
        assertEquals("on", client.run(mine, "echo on"));
        client.delete("/v5/vms/" + mine).expect(204);
    }

    @Test
    void aResizeOnlyGrowsAndOnlyToItsCeilings() {
        for (var wrong :
                new String[] {
                    "{}",
                    "{\"memory\":64}",
                    "{\"storage\":1}",
                    "{\"cpu\":0}",
                    "{\"cpu\":65}",
                    "{\"memory\":131073}",
                    "{\"storage\":1024001}",
                    "{\"cpu\":\"2\"}"
                }) {
            client.post("/v5/vms/here/resize", wrong).expect(400, "BAD_REQUEST");
        }
        client.post("/v5/vms/here/resize", "{\"cpu\":5}").expect(409, "CONFLICT");
        client.post("/v5/vms/here/resize", "{\"memory\":4096}").expect(409, "CONFLICT");
        client.post("/v5/vms/here/resize", "{\"storage\":1500,\"cpu\":64}").expect(409, "CONFLICT");
        var same =
                client.post("/v5/vms/here/resize", "{\"cpu\":1,\"memory\":128,\"storage\":1000}")
                        .expect(200);
        assertEquals(
                1000,
                same.requiredObject("resources").requiredInteger("storage"),
                "one refused axis refuses the whole call");
    }

    @Test
    void anExecRefusesWrongFields() {
        for (var wrong :
                new String[] {
                    "{}",
                    "{\"command\":\"\"}",
                    "{\"command\":7}",
                    "{\"command\":\"a\\u0000b\"}",
                    "{\"command\":\"true\",\"timeoutMs\":0}",
                    "{\"command\":\"true\",\"timeoutMs\":300001}",
                    "{\"command\":\"true\",\"env\":{\"1A\":\"x\"}}",
                    "{\"command\":\"true\",\"env\":{\"A\":1}}",
                    "{\"command\":\"true\",\"stdin\":\"***\"}",
                    "{\"command\":\"true\",\"linuxUser\":\"nobody-here\"}",
                    "{\"command\":\"true\",\"linuxUser\":\"a b\"}",
                }) {
            client.post("/v5/vms/here/exec-await", wrong).expect(400, "BAD_REQUEST");
        }
        var large = java.util.Base64.getEncoder().encodeToString(new byte[(1 << 20) + 1]);
        client.post(
                        "/v5/vms/here/exec-await",
                        "{\"command\":\"cat\",\"stdin\":\"%s\"}".formatted(large))
                .expect(400, "BAD_REQUEST");
    }

    @Test
    void aListRefusesWrongFilters() {
        for (var wrong :
                new String[] {
                    "state=asleep",
                    "limit=-1",
                    "limit=x",
                    "offset=1.5",
                    "metadata=nocolon",
                    "metadata=a:b,,"
                }) {
            client.get("/v5/vms?" + wrong).expect(400, "BAD_REQUEST");
        }
        client.get("/v5/vms?snapshotId=svc%2Fnothing").expect(404, "NOT_FOUND");
        assertEquals(
                0,
                client.get("/v5/vms?snapshotId=sh-00000000000000000000")
                        .expect(200)
                        .requiredInteger("totalCount"));
    }

    @Test
    void theAccountsLimitsAreToldWithTheirNumbers() {
        try (var limited =
                Installation.start(
                        Map.of("COPPICE_VM_MAX_RUNNING", "1", "COPPICE_VM_MAX_TOTAL", "2"))) {
            var caller = limited.client("main");
            var first = caller.createVm();
            var refused = caller.post("/v5/vms", "{" + NO_RULES + "}");
            refused.expect(403, "VM_LIMIT_EXCEEDED");
            assertEquals(1, refused.body().requiredInteger("limit"));
            assertEquals(1, refused.body().requiredInteger("current"));

            caller.post("/v5/vms/%s/stop".formatted(first), "{}").expect(200);
            var second = caller.createVm();
            caller.post("/v5/vms/%s/start".formatted(first), "{}").expect(403, "VM_LIMIT_EXCEEDED");
            caller.post("/v5/vms/%s/stop".formatted(second), "{}").expect(200);
            var total = caller.post("/v5/vms", "{" + NO_RULES + "}");
            total.expect(403, "TOTAL_VM_LIMIT_EXCEEDED");
            assertEquals(2, total.body().requiredInteger("limit"));
            assertEquals(2, total.body().requiredInteger("current"));
        }
    }
}
