package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.json.JsonObject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Snapshots that are taken of real VMs, through the v5 family.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnapshotsIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @AutoClose private Installation installation;
    private Client client;
    private Client stranger;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        stranger = installation.client("other");
    }

    @Test
    void aSnapshotHasTheMemoryAndTheDiskOfTheInstantAndTheVmGoesOn() {
        var vm = client.createVm();
        client.run(vm, "echo then > /dev/shm/memory; echo then > /root/disk; sync");

        var taken = take(vm, "{\"slug\":\"then\",\"displayName\":\"Then\",\"ttlSeconds\":3600}");
        assertEquals(Set.of("snapshotId", "sourceVmId", "snapshot"), taken.fields());
        assertEquals(vm, taken.requiredString("sourceVmId"));
        var snapshot = taken.requiredObject("snapshot");
        var id = taken.requiredString("snapshotId");
        assertEquals(id, snapshot.requiredString("id"));
        assertTrue(id.matches("sh-[a-z0-9]{20}"), id);
        assertEquals(false, snapshot.requiredBool("public"));
        assertEquals("then", snapshot.requiredString("slug"));
        assertEquals("Then", snapshot.requiredString("displayName"));
        assertEquals(3600, snapshot.requiredInteger("ttlSeconds"));
        assertEquals(vm, snapshot.requiredString("sourceVmId"));
        assertEquals(
                client.get("/v5/vms/" + vm).expect(200).requiredObject("resources"),
                snapshot.requiredObject("resources"));
        assertEquals(snapshot, client.get("/v5/snapshots/" + id).expect(200));

        assertEquals("running", client.state(vm));
        client.run(vm, "echo now > /dev/shm/memory; echo now > /root/disk");
        for (var name : List.of(id, id.replace("sh-", "sc-"), "then")) {
            var copy = client.createVm("{\"snapshotId\":\"%s\",%s}".formatted(name, NO_RULES));
            assertEquals("then\nthen", client.run(copy, "cat /dev/shm/memory /root/disk"));
            assertEquals(copy, client.run(copy, "hostname"));
            client.delete("/v5/vms/" + copy).expect(204);
        }
        assertEquals("now", client.run(vm, "cat /dev/shm/memory"));
        forget(vm, id);
    }

    @Test
    void aPausedVmIsTakenAndStaysPaused() {
        var vm = client.createVm();
        client.run(vm, "echo kept > /dev/shm/memory");
        client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);

        var id = take(vm, "").requiredString("snapshotId");

        assertEquals("paused", client.state(vm));
        var copy = client.createVm("{\"snapshotId\":\"%s\",%s}".formatted(id, NO_RULES));
        assertEquals("kept", client.run(copy, "cat /dev/shm/memory"));
        client.delete("/v5/vms/" + copy).expect(204);
        assertEquals("kept", client.run(vm, "cat /dev/shm/memory"));
        forget(vm, id);
    }

    @Test
    void aTakeRefusesASlugThatIsTakenAndAVmThatIsStopped() {
        var vm = client.createVm("{\"slug\":\"taken-of\",%s}".formatted(NO_RULES));
        var id = take(vm, "{\"slug\":\"taken\"}").requiredString("snapshotId");
        client.post("/v5/vms/%s/snapshot".formatted(vm), "{\"slug\":\"taken\"}")
                .expect(409, "CONFLICT");
        client.post("/v5/vms/%s/stop".formatted(vm), "{}").expect(200);
        client.post("/v5/vms/%s/snapshot".formatted(vm), "{}").expect(409, "CONFLICT");
        stranger.post("/v5/vms/%s/snapshot".formatted(vm), "{}").expect(404, "NOT_FOUND");
        stranger.post("/v5/vms/taken-of/snapshot", "{}").expect(404, "NOT_FOUND");
        assertEquals(
                1,
                client.get("/v5/snapshots?sourceVmId=taken-of")
                        .expect(200)
                        .requiredInteger("totalCount"),
                "a refused take leaves no snapshot");
        forget(vm, id);
        assertEquals(
                0,
                client.get("/v5/snapshots?sourceVmId=" + vm)
                        .expect(200)
                        .requiredInteger("totalCount"));
        client.get("/v5/snapshots?sourceVmId=taken-of").expect(404, "NOT_FOUND");
    }

    @Test
    void aSnapshotOutlivesItsVmAndItsVmsOutliveIt() {
        var vm = client.createVm();
        var id = take(vm, "{\"slug\":\"base\"}").requiredString("snapshotId");
        client.delete("/v5/vms/" + vm).expect(204);
        assertEquals(
                id,
                client.get("/v5/snapshots?sourceVmId=" + vm)
                        .expect(200)
                        .requiredObjects("snapshots")
                        .getFirst()
                        .requiredString("id"));

        var copy = client.createVm("{\"snapshotId\":\"base\",%s}".formatted(NO_RULES));
        assertEquals("base", shown(copy).requiredString("sourceSnapshotSlug"));
        client.delete("/v5/snapshots/base").expect(204);
        assertEquals(id, shown(copy).requiredString("snapshotId"));
        assertEquals("base", shown(copy).requiredString("sourceSnapshotSlugAtCreate"));
        assertTrue(!shown(copy).has("sourceSnapshotSlug"));
        assertEquals("fine", client.run(copy, "echo fine"));
        client.post("/v5/vms", "{\"snapshotId\":\"%s\",%s}".formatted(id, NO_RULES))
                .expect(404, "NOT_FOUND");
        client.post("/v5/vms/%s/stop".formatted(copy), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(copy), "{}").expect(200);
        client.delete("/v5/vms/" + copy).expect(204);
    }

    private JsonObject shown(String vm) {
        return client.get("/v5/vms/" + vm).expect(200);
    }

    @Test
    void aUseIsNotedAndARenameIsNone() {
        var vm = client.createVm();
        var id = take(vm, "{}").requiredString("snapshotId");
        client.patch("/v5/snapshots/" + id, "{\"displayName\":\"new\"}").expect(200);
        assertTrue(!client.get("/v5/snapshots/" + id).expect(200).has("lastUsedAt"));

        var copy = client.createVm("{\"snapshotId\":\"%s\",%s}".formatted(id, NO_RULES));

        await(
                "its use is never noted",
                () -> client.get("/v5/snapshots/" + id).expect(200).has("lastUsedAt"));
        client.delete("/v5/vms/" + copy).expect(204);
        forget(vm, id);
    }

    @Test
    void aSnapshotGoesSoonAfterItsTimeIsOver() {
        var vm = client.createVm();
        for (var timer : List.of("ttlSeconds", "autoDeleteSeconds")) {
            var id = take(vm, "{\"slug\":\"brief\"}").requiredString("snapshotId");
            client.patch("/v5/snapshots/" + id, "{\"%s\":1}".formatted(timer)).expect(200);
            await(
                    timer + " never deletes it",
                    () -> client.get("/v5/snapshots/" + id).status() == 404);
            assertTrue(
                    !java.nio.file.Files.exists(
                            installation.data().resolve("volume/snapshots").resolve(id)));
        }
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void anotherAccountsSnapshotIsExactlyAsAbsentAsOneThatNeverWas() {
        var vm = client.createVm();
        var id = take(vm, "{\"slug\":\"secret\"}").requiredString("snapshotId");
        var never = "sh-00000000000000000000";
        var create = "{\"snapshotId\":\"%s\"," + NO_RULES + "}";
        for (var both :
                List.of(
                        List.of(
                                stranger.get("/v5/snapshots/" + id),
                                stranger.get("/v5/snapshots/" + never)),
                        List.of(
                                stranger.patch("/v5/snapshots/" + id, "{}"),
                                stranger.patch("/v5/snapshots/" + never, "{}")),
                        List.of(
                                stranger.delete("/v5/snapshots/" + id),
                                stranger.delete("/v5/snapshots/" + never)),
                        List.of(
                                stranger.post("/v5/vms", create.formatted(id)),
                                stranger.post("/v5/vms", create.formatted(never))))) {
            both.getFirst().expect(404, "NOT_FOUND");
            assertEquals(text(both.getLast()), text(both.getFirst()).replace(id, never));
        }
        for (var name : List.of("secret", "main%2Fsecret", "main/secret")) {
            stranger.get("/v5/snapshots/" + name).expect(404, "NOT_FOUND");
        }
        assertEquals(0, stranger.get("/v5/snapshots").expect(200).requiredInteger("totalCount"));
        forget(vm, id);
    }

    private static String text(Client.Answer answer) {
        return new String(answer.response().body(), java.nio.charset.StandardCharsets.UTF_8);
    }

    @Test
    void theCatalogueIsEverybodysToReadAndToBootAndNobodysToChange() {
        var base = stranger.get("/v5/snapshots/svc%2Fbusybox").expect(200);
        var id = base.requiredString("id");
        assertEquals(base, stranger.get("/v5/snapshots/svc/busybox").expect(200));
        assertEquals(base, stranger.get("/v5/snapshots/" + id).expect(200));
        assertEquals(true, base.requiredBool("public"));
        assertEquals(
                JsonObject.of(Map.of("cpu", 1, "memory", 128, "storage", 1000)),
                base.requiredObject("resources"));
        var vm = stranger.createVm("{\"snapshotId\":\"svc/busybox\",%s}".formatted(NO_RULES));
        stranger.delete("/v5/vms/" + vm).expect(204);

        for (var name : List.of(id, "svc%2Fbusybox", "svc/busybox", "busybox")) {
            stranger.patch("/v5/snapshots/" + name, "{}").expect(404, "NOT_FOUND");
        }
        for (var name : List.of("svc%2Fbusybox", "svc/busybox", "busybox")) {
            stranger.delete("/v5/snapshots/" + name).expect(404, "NOT_FOUND");
        }
        stranger.delete("/v5/snapshots/" + id).expect(409, "CONFLICT");
        assertEquals(0, stranger.get("/v5/snapshots").expect(200).requiredInteger("totalCount"));
    }

    @Test
    void theAccountsLimitIsToldWithItsNumbersAndHeldAcrossARestart() {
        try (var limited = Installation.start(Map.of("COPPICE_SNAPSHOT_MAX_TOTAL", "1"))) {
            var caller = limited.client("main");
            var vm = caller.createVm();
            var path = "/v5/vms/%s/snapshot".formatted(vm);
            var id = caller.post(path, "{}").expect(200).requiredString("snapshotId");
            limited.killServer();
            limited.startServer();

            caller.get("/v5/snapshots/" + id).expect(200);
            for (var family : List.of(path, path.replace("/v5/", "/v1/"))) {
                var refused = caller.post(family, "{}");
                refused.expect(403, "SNAPSHOT_LIMIT_EXCEEDED");
                assertEquals(1, refused.body().requiredInteger("limit"));
                assertEquals(1, refused.body().requiredInteger("current"));
            }
            caller.delete("/v5/snapshots/" + id).expect(204);
            caller.post(path, "{}").expect(200);
        }
    }

    private JsonObject take(String vm, String body) {
        return client.post("/v5/vms/%s/snapshot".formatted(vm), body).expect(200);
    }

    private void forget(String vm, String snapshot) {
        client.delete("/v5/vms/" + vm).expect(204);
        client.delete("/v5/snapshots/" + snapshot).expect(204);
    }

    private void await(String otherwise, BooleanSupplier claim) {
        Wait.until(PATIENCE, claim, () -> otherwise + ":\n" + installation.logTail());
    }
}
