package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What a fork takes, answers and refuses, in both families.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForkRoutesIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    /// A VM with everything that a copy takes over, and what it does not.
    private static final String SOURCE =
            "{\"slug\":\"source\",\"displayName\":\"Source\",\"metadata\":{\"env\":\"prod\"},"
                    + "\"automaticRestart\":false,\"idleTimeoutSeconds\":600,\"autoDeleteSeconds\":700,"
                    + "\"ttlSeconds\":8000,\"maxRunSeconds\":900,\"maxRunTotalSeconds\":1000,"
                    + NO_RULES
                    + "}";

    @AutoClose private Installation installation;
    private Client client;
    private String source;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        source = client.createVm(SOURCE);
        client.run(source, "echo here > /dev/shm/memory; echo here > /root/disk");
    }

    @Test
    void aForkOfNothingSaidIsOneCopyThatTakesOverWhatItCan() {
        var answer = client.post("/v5/vms/source/fork", "").expect(200);
        assertEquals(Set.of("sourceVmId", "vms"), answer.fields());
        assertEquals(source, answer.requiredString("sourceVmId"));
        var copies = answer.requiredObjects("vms");
        assertEquals(1, copies.size());
        var copy = copies.getFirst();
        var original = client.get("/v5/vms/source").expect(200);

        assertTrue(!copy.requiredString("id").equals(source));
        assertEquals("running", copy.requiredString("state"));
        for (var absent : List.of("slug", "autoDeleteSeconds")) {
            assertTrue(!copy.has(absent), absent);
        }
        for (var same :
                List.of(
                        "displayName",
                        "metadata",
                        "automaticRestart",
                        "idleTimeoutSeconds",
                        "ttlSeconds",
                        "maxRunSeconds",
                        "maxRunTotalSeconds",
                        "resources",
                        "snapshotId")) {
            assertEquals(original.value(same), copy.value(same), same);
        }
        assertEquals(0, copy.requiredInteger("totalRunSeconds"));
        assertEquals("running", client.state("source"));
        assertEquals(
                "here\nhere",
                client.run(copy.requiredString("id"), "cat /dev/shm/memory /root/disk"));
        delete(copies);
    }

    @Test
    void aForkTakesWhatIsSaidInPlaceOfTheSources() {
        var rule = "{\"action\":\"allow\",\"source\":{},\"destination\":{\"public\":true}}";
        var copies =
                client.post(
                                "/v5/vms/source/fork",
                                "{\"count\":3,\"displayName\":\"Copy\",\"metadata\":{\"a\":\"b\",\"c\":\"\"},"
                                        + "\"firewall\":{\"rules\":[%s]}}".formatted(rule))
                        .expect(200)
                        .requiredObjects("vms");
        assertEquals(3, copies.size());
        var names = new HashSet<String>();
        for (var copy : copies) {
            assertEquals("Copy", copy.requiredString("displayName"));
            assertEquals(JsonObject.of(Map.of("a", "b")), copy.requiredObject("metadata"));
            names.add(client.run(copy.requiredString("id"), "hostname"));
        }
        assertEquals(3, names.size());
        delete(copies);
    }

    @Test
    void aLegacyForkAnswersInItsOwnShape() {
        for (var name : List.of(source, source.substring(3), "source")) {
            var answer = client.post("/v1/vms/%s/fork".formatted(name), "{}").expect(200);
            assertEquals(Set.of("vmId", "forks"), answer.fields());
            assertEquals(source, answer.requiredString("vmId"));
            var forks = answer.requiredObjects("forks");
            assertEquals(1, forks.size());
            var fork = forks.getFirst();
            assertEquals(Set.of("id", "domains", "consoleUrl"), fork.fields());
            assertEquals(List.of(), fork.strings("domains").orElseThrow());
            assertTrue(fork.isNull("consoleUrl"));
            var shown = client.get("/v5/vms/" + fork.requiredString("id")).expect(200);
            assertEquals("running", shown.requiredString("state"));
            assertEquals(600, shown.requiredInteger("idleTimeoutSeconds"));
            assertEquals(8000, shown.requiredInteger("ttlSeconds"));
            assertTrue(!shown.has("autoDeleteSeconds"));
            delete(forks);
        }
    }

    @Test
    void aLegacyForkTakesWhatIsSaid() {
        var forks =
                client.post(
                                "/v1/vms/source/fork",
                                "{\"count\":2,\"idleTimeoutSeconds\":-1,\"ports\":[],\"workdir\":\"/srv\","
                                        + "\"persistence\":{\"type\":\"ephemeral\",\"deleteEvent\":\"OnStop\"}}")
                        .expect(200)
                        .requiredObjects("forks");
        assertEquals(2, forks.size());
        for (var fork : forks) {
            var shown = client.get("/v5/vms/" + fork.requiredString("id")).expect(200);
            assertTrue(!shown.has("idleTimeoutSeconds"));
            assertEquals(0, shown.requiredInteger("autoDeleteSeconds"));
        }
        delete(forks);
    }

    @Test
    void aRefusedForkLeavesNoVm() {
        var before = client.get("/v5/vms").expect(200).requiredInteger("totalCount");
        client.post("/v5/vms/source/fork", "{\"count\":11}").expect(400, "BAD_REQUEST");
        client.post("/v1/vms/source/fork", "{\"ports\":[{\"port\":80,\"targetPort\":80}]}")
                .expect(400, "BAD_REQUEST");
        client.post("/v5/vms/nothing/fork", "{}").expect(404, "NOT_FOUND");
        client.post("/v1/vms/nothing/fork", "{}").expect(404, "VM_NOT_FOUND");
        var stranger = installation.client("other");
        stranger.post("/v5/vms/%s/fork".formatted(source), "{}").expect(404, "NOT_FOUND");
        stranger.post("/v1/vms/%s/fork".formatted(source), "{}").expect(404, "VM_NOT_FOUND");
        assertEquals(before, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));
    }

    @Test
    void theAccountsLimitsHoldForAllCopiesTogether() {
        try (var limited =
                Installation.start(
                        Map.of("COPPICE_VM_MAX_RUNNING", "2", "COPPICE_VM_MAX_TOTAL", "3"))) {
            var caller = limited.client("main");
            var vm = caller.createVm();
            for (var family : List.of("/v5/vms/%s/fork", "/v1/vms/%s/fork")) {
                var refused = caller.post(family.formatted(vm), "{\"count\":2}");
                refused.expect(403, "VM_LIMIT_EXCEEDED");
                assertEquals(2, refused.body().requiredInteger("limit"));
                assertEquals(1, refused.body().requiredInteger("current"));
            }
            var copies =
                    caller.post("/v5/vms/%s/fork".formatted(vm), "{}")
                            .expect(200)
                            .requiredObjects("vms");
            var copy = copies.getFirst().requiredString("id");
            caller.post("/v5/vms/%s/stop".formatted(copy), "{}").expect(200);
            var third = caller.createVm();
            caller.post("/v5/vms/%s/stop".formatted(third), "{}").expect(200);
            caller.post("/v5/vms/%s/fork".formatted(vm), "{}")
                    .expect(403, "TOTAL_VM_LIMIT_EXCEEDED");
        }
    }

    private void delete(List<JsonObject> vms) {
        vms.forEach(vm -> client.delete("/v5/vms/" + vm.requiredString("id")).expect(204));
    }
}
