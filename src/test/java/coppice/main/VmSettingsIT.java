package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What a VM is told about itself, how that is changed, and how VMs are found by it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VmSettingsIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @AfterEach
    void deleteAll() {
        client.get("/v5/vms")
                .expect(200)
                .requiredObjects("vms")
                .forEach(vm -> client.delete("/v5/vms/" + vm.requiredString("id")).expect(204));
    }

    private String create(String fields) {
        return client.createVm("{%s,%s}".formatted(NO_RULES, fields));
    }

    @Test
    void aVmIsAnsweredAsTheContractShowsIt() {
        var fields =
                "\"slug\":\"one\",\"displayName\":\"The one\",\"idleTimeoutSeconds\":600,"
                        + "\"autoDeleteSeconds\":0,\"metadata\":{\"a\":\"b\"}";
        var answer = client.post("/v5/vms", "{%s,%s}".formatted(NO_RULES, fields)).expect(200);
        var vm = client.get("/v5/vms/one").expect(200);
        for (var seen : List.of(answer, vm)) {
            assertEquals("running", seen.requiredString("state"));
            assertEquals("one", seen.requiredString("slug"));
            assertEquals("The one", seen.requiredString("displayName"));
            assertEquals(600, seen.requiredInteger("idleTimeoutSeconds"));
            assertEquals(0, seen.requiredInteger("autoDeleteSeconds"));
            assertEquals("svc/busybox", seen.requiredString("sourceSnapshotSlugAtCreate"));
            assertTrue(seen.requiredBool("automaticRestart"));
            assertEquals(Optional.of(Map.of("a", "b")), seen.stringMap("metadata"));
            assertEquals(List.of(), seen.requiredObjects("vpcs"));
            assertEquals(List.of(), seen.requiredObjects("networks"));
            assertTrue(
                    seen.requiredString("createdAt")
                            .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z"));
            assertTrue(
                    !seen.has("ttlSeconds") && !seen.has("placement"),
                    "what has no value is left out");
        }
        assertEquals(List.of(), answer.requiredObjects("firewallRules"));
        assertEquals(List.of(), answer.requiredObjects("tlsRules"));
        assertTrue(!vm.has("firewallRules"));
    }

    @Test
    void firewallRulesComeBackWithIdsAndWithoutUnsetFields() {
        var rule =
                "{\"action\":\"allow\",\"source\":{},\"description\":\"out\","
                        + "\"destination\":{\"public\":true,\"port\":443,\"protocol\":\"tcp\"}}";
        var rules =
                client.post("/v5/vms", "{\"firewall\":{\"rules\":[%s]}}".formatted(rule))
                        .expect(200)
                        .requiredObjects("firewallRules");
        assertEquals(1, rules.size());
        assertTrue(rules.getFirst().requiredString("id").matches("fw-[a-z0-9]{20}"));
        var destination = rules.getFirst().requiredObject("destination");
        assertEquals(java.util.Set.of("public", "port", "protocol"), destination.fields());
    }

    @Test
    void anUpdateLeavesWhatIsNotSentAndClearsWhatIsEmptyOrMinusOne() {
        var vm =
                create(
                        "\"slug\":\"before\",\"displayName\":\"name\",\"ttlSeconds\":1000,\"metadata\":{\"a\":\"1\",\"b\":\"2\"}");

        var same = client.patch("/v5/vms/" + vm, "{\"displayName\":null}").expect(200);
        assertEquals("name", same.requiredString("displayName"));
        assertEquals(1000, same.requiredInteger("ttlSeconds"));

        var changed =
                client.patch(
                                "/v5/vms/before",
                                "{\"slug\":\"after\",\"displayName\":\"\",\"ttlSeconds\":-1,\"maxRunSeconds\":50,"
                                        + "\"automaticRestart\":false,\"metadata\":{\"a\":\"\",\"c\":\"3\"}}")
                        .expect(200);
        assertEquals("after", changed.requiredString("slug"));
        assertTrue(!changed.has("displayName") && !changed.has("ttlSeconds"));
        assertEquals(50, changed.requiredInteger("maxRunSeconds"));
        assertTrue(!changed.requiredBool("automaticRestart"));
        assertEquals(Optional.of(Map.of("b", "2", "c", "3")), changed.stringMap("metadata"));

        client.get("/v5/vms/before").expect(404, "NOT_FOUND");
        client.patch("/v5/vms/after", "{\"slug\":\"\"}").expect(200);
        client.get("/v5/vms/after").expect(404, "NOT_FOUND");
        assertEquals(vm, client.get("/v5/vms/" + vm).expect(200).requiredString("id"));
    }

    @Test
    void aSlugMovesToWhoeverMayTakeIt() {
        var first = create("\"slug\":\"prize\"");
        var second = create("\"slug\":\"prize\",\"reassignSlug\":true");
        assertEquals(second, client.get("/v5/vms/prize").expect(200).requiredString("id"));
        assertTrue(!client.get("/v5/vms/" + first).expect(200).has("slug"));
        assertEquals("running", client.state(first));

        client.patch("/v5/vms/" + first, "{\"slug\":\"prize\",\"reassignSlug\":true}").expect(200);
        assertEquals(first, client.get("/v5/vms/prize").expect(200).requiredString("id"));
        client.post("/v5/vms/%s/pause".formatted(second), "{}").expect(200);
        assertTrue(
                !client.get("/v5/vms/" + second).expect(200).has("slug"),
                "a change of state brings no lost slug back");
        client.delete("/v5/vms/prize").expect(204);
        client.patch("/v5/vms/" + second, "{\"slug\":\"prize\"}").expect(200);
    }

    @Test
    void aListFindsByStateSlugSnapshotAndMetadataAndCountsTheWholeSet() {
        var one = create("\"slug\":\"one\",\"metadata\":{\"app\":\"web\",\"tier\":\"x:y\"}");
        var two = create("\"slug\":\"two\",\"metadata\":{\"app\":\"web\"}");
        var three = create("\"slug\":\"three\"");
        client.post("/v5/vms/two/pause", "{}").expect(200);
        client.post("/v5/vms/three/kill", "{}").expect(200);
        var snapshot = client.get("/v5/vms/one").expect(200).requiredString("snapshotId");

        assertEquals(List.of(three, two, one), found(""));
        assertEquals(List.of(two), found("?state=paused"));
        assertEquals(List.of(one), found("?slug=one"));
        assertEquals(List.of(two, one), found("?metadata=app:web"));
        assertEquals(List.of(one), found("?metadata=app:web,tier:x:y"));
        assertEquals(List.of(three, two, one), found("?snapshotId=" + snapshot));
        assertEquals(
                List.of(three, two, one), found("?snapshotId=" + snapshot.replace("sh-", "sc-")));
        assertEquals(List.of(three, two, one), found("?snapshotId=svc%2Fbusybox&state="));
        assertEquals(List.of(two), found("?limit=1&offset=1"));
        assertEquals(List.of(), found("?offset=9"));

        var counts = client.get("/v5/vms?limit=0").expect(200);
        assertEquals(List.of(), counts.requiredObjects("vms"));
        assertEquals(List.of(3L, 1L, 0L, 0L, 1L, 1L), counts(counts));
        assertEquals(
                List.of(2L, 1L, 0L, 0L, 1L, 0L),
                counts(client.get("/v5/vms?metadata=app:web&limit=1").expect(200)));
    }

    private List<String> found(String query) {
        return client.get("/v5/vms" + query).expect(200).requiredObjects("vms").stream()
                .map(vm -> vm.requiredString("id"))
                .toList();
    }

    private static List<Long> counts(JsonObject list) {
        return List.of("total", "running", "starting", "pausing", "paused", "stopped").stream()
                .map(state -> list.requiredInteger(state + "Count"))
                .toList();
    }
}
