package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Snapshots and suspended VMs of real VMs, through the legacy family.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LegacySnapshotsIT {
    private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm("{\"slug\":\"mine\",\"firewall\":{\"rules\":[]}}");
    }

    @Test
    void aSnapshotIsTakenListedRenamedAndDeletedInItsOldShape() {
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        var taken =
                client.post(
                                "/v1/vms/%s/snapshot".formatted(vm.substring(3)),
                                "{\"name\":\"Mine\",\"persistence\":{\"type\":\"sticky\",\"priority\":3}}")
                        .expect(200);
        assertEquals(Set.of("snapshotId", "sourceVmId", "sourceVmInstanceId"), taken.fields());
        assertEquals(vm, taken.requiredString("sourceVmId"));
        assertTrue(taken.requiredString("sourceVmInstanceId").matches(UUID));
        var id = taken.requiredString("snapshotId");

        var item = listed("", id);
        assertEquals(vm, item.requiredString("sourceVmId"));
        assertEquals("Mine", item.requiredString("name"));
        assertEquals(
                JsonObject.of(Map.of("type", "sticky", "priority", 3)),
                item.requiredObject("snapshotPersistence"));
        assertEquals(1, item.requiredInteger("vcpuCount"));
        assertEquals(128, item.requiredInteger("memSizeMib"));
        assertEquals(1000, item.requiredInteger("rootfsSizeMb"));
        assertEquals(
                "Mine",
                client.get("/v5/snapshots/" + id).expect(200).requiredString("displayName"));

        var one = "/v1/vms/snapshots/" + id.replace("sh-", "sc-");
        assertEquals(
                "New", client.patch(one, "{\"name\":\"New\"}").expect(200).requiredString("name"));
        assertEquals(id, client.delete(one).expect(200).requiredString("snapshot_id"));
        client.delete(one).expect(409, "SNAPSHOT_ALREADY_DELETED");
        client.patch(one, "{}").expect(404, "SNAPSHOT_NOT_FOUND");
        assertEquals(true, listed("?includeDeleted=true", id).requiredBool("deleted"));
        client.get("/v5/snapshots/" + id).expect(404, "NOT_FOUND");
    }

    private JsonObject listed(String query, String id) {
        return client
                .get("/v1/vms/snapshots" + query)
                .expect(200)
                .requiredObjects("snapshots")
                .stream()
                .filter(item -> item.requiredString("snapshotId").equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aSuspendNamesTheSavedMemoryAndASecondOneTheSame() {
        var mine = client.createVm();
        var path = "/v1/vms/%s/suspend".formatted(mine);
        var suspended = client.post(path, "{}").expect(200);
        assertEquals(Set.of("id", "vmInstanceId", "snapshotLayerId"), suspended.fields());
        assertEquals(mine, suspended.requiredString("id"));
        assertTrue(suspended.requiredString("vmInstanceId").matches(UUID));
        assertTrue(suspended.requiredString("snapshotLayerId").matches("sl-[a-z0-9]{20}"));
        assertEquals("paused", client.state(mine));
        assertEquals(suspended, client.post(path, "{}").expect(200));

        var taken = client.post("/v1/vms/%s/snapshot".formatted(mine), "{}").expect(200);
        assertEquals(
                suspended.requiredString("vmInstanceId"),
                taken.requiredString("sourceVmInstanceId"));
        assertEquals("paused", client.state(mine));
        client.delete("/v5/vms/" + mine).expect(204);
    }

    @Test
    void theWrongStateHasItsOwnWords() {
        var mine = client.createVm();
        client.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
        client.post("/v1/vms/%s/suspend".formatted(mine), "{}").expect(400, "VM_NOT_RUNNING");
        client.post("/v1/vms/%s/snapshot".formatted(mine), "{}")
                .expect(400, "SNAPSHOT_VM_BAD_REQUEST");
        client.delete("/v5/vms/" + mine).expect(204);
        for (var verb : List.of("suspend", "snapshot", "fork")) {
            var refused = client.post("/v1/vms/%s/%s".formatted(mine, verb), "{}");
            refused.expect(404, "VM_NOT_FOUND");
            assertEquals(mine, refused.body().requiredString("vmId"));
        }
    }

    @Test
    void aVmThatIsBeingSuspendedIsToldSo() throws InterruptedException {
        var mine = client.createVm();
        var seen = new java.util.HashSet<String>();
        for (int tries = 0; tries < 20 && seen.size() < 2; tries++) {
            for (var verb : List.of("snapshot", "fork")) {
                client.run(mine, "head -c 40m /dev/zero | tr '\\0' x > /dev/shm/much");
                var pause =
                        Thread.startVirtualThread(
                                () ->
                                        client.post("/v1/vms/%s/suspend".formatted(mine), "{}")
                                                .expect(200));
                while (client.state(mine).equals("running")) {
                    Thread.onSpinWait(); // a pause is short: to be caught, it is looked for
                    // without a rest
                }
                var answer = client.post("/v1/vms/%s/%s".formatted(mine, verb), "{}");
                if (answer.status() == 409) { // else the pause was over
                    answer.expect(409, "VM_IS_SUSPENDING");
                    seen.add(verb);
                } else {
                    forget(answer.expect(200));
                }
                pause.join();
            }
        }
        assertEquals(2, seen.size(), "it was never pausing when it was asked");
        client.delete("/v5/vms/" + mine).expect(204);
    }

    private void forget(JsonObject made) {
        made.string("snapshotId").ifPresent(id -> client.delete("/v5/snapshots/" + id).expect(204));
        made.objects("forks")
                .orElse(List.of())
                .forEach(fork -> client.delete("/v5/vms/" + fork.requiredString("id")).expect(204));
    }

    @Test
    void theDefaultIsNotDeletedAndTemplatesAreNotBuilt() {
        var id = client.get("/v5/snapshots/svc%2Fbusybox").expect(200).requiredString("id");
        client.delete("/v1/vms/snapshots/" + id).expect(409, "SNAPSHOT_IS_ACCOUNT_DEFAULT");
        client.post("/v1/vms/snapshots", "{\"template\":{}}").expect(503, "UNAVAILABLE");
    }
}
