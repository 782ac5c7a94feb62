package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.VmRights;
import coppice.json.JsonObject;
import coppice.vm.GivenVms;
import coppice.vm.SnapshotId;
import coppice.vm.VmId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LegacyLifeTest {
    @TempDir private Path directory;
    private GivenVms given;
    private ApiCaller ada;
    private ApiCaller bob;
    private String id;

    @BeforeEach
    void open() {
        given = new GivenVms(directory);
        ada =
                new ApiCaller(
                        new LegacyVmRoutes(given.vms(), "acme", VmRights.NONE).routes(),
                        given.ada().uuid());
        bob = ada.as(given.bob().uuid());
        id = given.stopped().id().text();
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aListHasTheOldShapeAndCountsByTheOldWords() {
        var list = ada.get("/v1/vms").expect(200);
        assertEquals(
                Set.of(
                        "vms",
                        "totalCount",
                        "runningCount",
                        "startingCount",
                        "suspendedCount",
                        "stoppedCount",
                        "userId"),
                list.fields());
        assertTrue(list.isNull("userId"));
        assertEquals(1, list.requiredInteger("stoppedCount"));
        var item = list.requiredObjects("vms").getFirst();
        assertEquals(
                Set.of(
                        "id",
                        "vmInstanceId",
                        "state",
                        "metrics",
                        "createdAt",
                        "lastNetworkActivity",
                        "cpuTimeSeconds",
                        "persistence",
                        "snapshotId",
                        "deleted",
                        "createdDeclaratively"),
                item.fields());
        assertEquals(id, item.requiredString("id"));
        assertFalse(item.requiredBool("deleted"));
        assertEquals(
                given.stopped().legacy().isDeclared(), item.requiredBool("createdDeclaratively"));
        assertEquals(
                0,
                bob.get("/v1/vms?includeDeleted=true").expect(200).requiredInteger("totalCount"));
    }

    @Test
    void aPageOfAListCountsAllThereIs() {
        var none = ada.get("/v1/vms?limit=0").expect(200);
        assertEquals(List.of(), none.requiredObjects("vms"));
        assertEquals(1, none.requiredInteger("totalCount"));
        ada.get("/v1/vms?includeDeleted=maybe").expect(400, "BAD_REQUEST");
    }

    @Test
    void oneVmHasTheOldShape() {
        for (var name : List.of(id, id.substring(3), "stopped")) {
            var shown = ada.get("/v1/vms/" + name).expect(200);
            assertEquals(
                    Set.of("id", "vmInstanceId", "lastNetworkActivity", "state", "cpuTimeSeconds"),
                    shown.fields());
            assertEquals("stopped", shown.requiredString("state"));
            assertTrue(shown.isNull("vmInstanceId"));
        }
        bob.get("/v1/vms/" + id).expect(404, "VM_NOT_FOUND");
    }

    @Test
    void theWordsForStatesAreTheOldOnes() {
        assertEquals("suspending", LegacyListing.word("pausing"));
        assertEquals("suspended", LegacyListing.word("paused"));
        for (var same : List.of("starting", "running", "stopped")) {
            assertEquals(same, LegacyListing.word(same));
        }
    }

    @Test
    void aDeletedVmIsListedToWhoAsksAndStartingItIsToldSo() {
        var recipe = given.stopped().legacy().recipe();
        assertEquals(JsonObject.of(Map.of("id", id)), ada.delete("/v1/vms/stopped").expect(200));
        assertEquals(0, ada.get("/v1/vms").expect(200).requiredInteger("totalCount"));
        var list = ada.get("/v1/vms?includeDeleted=true").expect(200);
        assertEquals(1, list.requiredInteger("stoppedCount"));
        var item = list.requiredObjects("vms").getFirst();
        assertTrue(item.requiredBool("deleted"));
        assertEquals("stopped", item.requiredString("state"));
        assertEquals(id, item.requiredString("id"));
        if (recipe.isEmpty()) {
            for (var name : List.of(id, id.substring(3))) {
                ada.post("/v1/vms/%s/start".formatted(name), "{}").expect(410, "VM_DELETED");
            }
        }
        bob.post("/v1/vms/%s/start".formatted(id), "{}").expect(404, "VM_NOT_FOUND");
        ada.post("/v1/vms/stopped/start", "{}").expect(404, "VM_NOT_FOUND");
        for (var verb : List.of("stop", "kill", "await", "suspend", "resize", "optimize")) {
            ada.post("/v1/vms/%s/%s".formatted(id, verb), "{}").expect(404, "VM_NOT_FOUND");
        }
        ada.get("/v1/vms/" + id).expect(404, "VM_NOT_FOUND");
        ada.delete("/v1/vms/" + id).expect(404, "VM_NOT_FOUND");
    }

    @Test
    void aStoppedVmIsAsTheOldCallsLeaveIt() {
        assertEquals(
                Set.of("vmId", "vmInstanceId"),
                ada.post("/v1/vms/stopped/stop", "{}").expect(200).fields());
        assertEquals(
                JsonObject.of(Map.of("id", id)), ada.post("/v1/vms/stopped/kill", "").expect(200));
        var awaited = ada.post("/v1/vms/stopped/await", "{}").expect(200);
        var isCrashed =
                given.vms().get(given.ada(), id).state()
                                instanceof coppice.vm.VmState.Stopped(_, var why)
                        && why.isPresent();
        assertEquals(isCrashed ? "crashed" : "stopped", awaited.requiredString("exitStatus"));
        assertEquals(
                Set.of("id", "message"),
                ada.post("/v1/vms/stopped/optimize", "{}").expect(200).fields());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"vcpuCount\":0}",
                "{\"memSizeGb\":-1}",
                "{\"vcpuCount\":65}",
                "{\"rootfsSizeGb\":1,\"sizeMb\":1000}",
                "{\"sizeMb\":\"1\"}"
            })
    void aResizeRefusesWhatItCannotDo(String body) {
        ada.post("/v1/vms/stopped/resize", body).expect(400, "BAD_REQUEST");
    }

    @Test
    void aResizeIsInTheOldUnits() {
        var growth =
                LegacyLife.growth(
                        JsonObject.of(Map.of("vcpuCount", 2, "memSizeGb", 3, "rootfsSizeGb", 4)));
        assertEquals(Optional.of(2), growth.cpu());
        assertEquals(3072, growth.memory().orElseThrow().mib());
        assertEquals(4000, growth.storage().orElseThrow().mib());
        assertEquals(
                1234,
                LegacyLife.growth(JsonObject.of(Map.of("sizeMb", 1234)))
                        .storage()
                        .orElseThrow()
                        .mib());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"idleTimeoutSeconds\":0",
                "\"activityThresholdBytes\":-1",
                "\"readySignalTimeoutSeconds\":0"
            })
    void aStartRefusesWrongSettingsAndKeepsNone(String field) {
        var before = given.vms().get(given.ada(), id).settings();
        ada.post("/v1/vms/stopped/start", "{%s}".formatted(field)).expect(400, "BAD_REQUEST");
        assertEquals(before, given.vms().get(given.ada(), id).settings());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"users\":[{\"name\":\"a\"},{\"name\":\"a\"}] | DUPLICATE_USER_NAME",
                "\"users\":[{\"name\":\"a\",\"groups\":[\"\"]}] | USER_GROUP_EMPTY",
                "\"users\":[{\"name\":\"a\",\"system\":true,\"uid\":1000}] | USER_SYSTEM_FLAG_MISMATCH",
                "\"users\":[{\"name\":\"a\",\"uid\":65536}] | USER_UID_OUT_OF_RANGE",
                "\"users\":[{\"name\":\"a\",\"uid\":-1}] | USER_UID_OUT_OF_RANGE",
                "\"users\":[{\"name\":\"a\",\"home\":\"x\"}] | USER_HOME_INVALID",
                "\"users\":[{\"name\":\"a\",\"shell\":\"sh\"}] | USER_SHELL_INVALID",
                "\"users\":[{\"name\":\"-a\"}] | VALIDATION_ERROR",
                "\"users\":[{}] | VALIDATION_ERROR",
                "\"users\":[{\"name\":\"a\",\"gecos\":\"a:b\"}] | VALIDATION_ERROR",
                "\"groups\":[{\"name\":\"a\"},{\"name\":\"a\"}] | DUPLICATE_GROUP_NAME",
                "\"groups\":[{\"name\":\"root\"}] | GROUP_NAME_RESERVED",
                "\"groups\":[{\"name\":\"A\"}] | GROUP_NAME_INVALID_CHARS",
                "\"groups\":[{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}] | GROUP_NAME_TOO_LONG",
                "\"groups\":[{\"name\":\"\"}] | GROUP_NAME_EMPTY",
                "\"groups\":[{\"name\":\"a\",\"gid\":65536}] | VALIDATION_ERROR",
                "\"additionalFiles\":{\"x\":{\"content\":\"\"}} | VALIDATION_ERROR",
                "\"additionalFiles\":{\"/a/../b\":{\"content\":\"\"}} | VALIDATION_ERROR",
                "\"additionalFiles\":{\"/a\":{\"content\":\"!\",\"encoding\":\"base64\"}} | VALIDATION_ERROR",
                "\"additionalFiles\":{\"/a\":{}} | CREATE_VM_BAD_REQUEST",
                "\"aptDeps\":[\"-x\"] | VALIDATION_ERROR",
                "\"gitRepos\":[{\"repo\":\"ext::sh -c x\",\"path\":\"/x\"}] | VALIDATION_ERROR",
                "\"gitRepos\":[{\"repo\":\"https://a.test/b\",\"path\":\"x\"}] | VALIDATION_ERROR",
                "\"git\":{\"repos\":[{\"repo\":\"https://a.test/b\",\"path\":\"/x\",\"rev\":\"-x\"}]} | VALIDATION_ERROR",
                "\"systemd\":{\"services\":[{\"name\":\"\"}]} | SERVICE_NAME_EMPTY",
                "\"systemd\":{\"services\":[{\"name\":\"a\",\"mode\":\"service\",\"exec\":[]}]} | EXEC_EMPTY",
                "\"systemd\":{\"patchedServices\":[{\"name\":\"a\"},{\"name\":\"a\"}]} | VALIDATION_ERROR",
                "\"snapshotId\":\"svc/busybox\" | INVALID_SNAPSHOT_ID",
                "\"snapshotId\":\"\" | INVALID_SNAPSHOT_ID",
                "\"vcpuCount\":0 | CREATE_VM_BAD_REQUEST",
                "\"memSizeGb\":129 | CREATE_VM_BAD_REQUEST",
                "\"template\":{\"rootfsSizeGb\":1025} | CREATE_VM_BAD_REQUEST",
                "\"ports\":[{\"port\":80,\"targetPort\":80}] | CREATE_VM_BAD_REQUEST",
                "\"workdir\":\"x\" | CREATE_VM_BAD_REQUEST",
                "\"activityThresholdBytes\":-1 | CREATE_VM_BAD_REQUEST",
                "\"idleTimeoutSeconds\":0 | CREATE_VM_BAD_REQUEST",
                "\"users\":{} | BAD_REQUEST"
            })
    void aCreateRefusesEachFaultByItsNameBeforeAnythingIsMade(String field, String code) {
        ada.post("/v1/vms", "{%s}".formatted(field)).expect(400, code);
        assertEquals(
                1,
                ada.get("/v1/vms?includeDeleted=true").expect(200).requiredInteger("totalCount"));
    }

    @Test
    void aCreateFromNothingSaysWhatIsMissing() {
        ada.post("/v1/vms", "{}").expect(404, "NO_DEFAULT_SNAPSHOT_AVAILABLE");
        var absent = SnapshotId.random().text();
        var refused =
                ada.post("/v1/vms", "{\"snapshotId\":\"%s\"}".formatted(absent))
                        .expect(404, "SNAPSHOT_NOT_FOUND");
        assertEquals(absent, refused.requiredString("snapshotId"));
        var hidden = given.snapshot(given.bob(), "hidden").id().text();
        ada.post("/v1/vms", "{\"snapshotId\":\"%s\"}".formatted(hidden))
                .expect(404, "SNAPSHOT_NOT_FOUND");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"template\":{\"aptDeps\":[\"x\"]}",
                "\"domains\":[{\"domain\":\"a.test\"}]",
                "\"gitRepos\":[{\"repo\":\"my-repository\",\"path\":\"/x\"}]"
            })
    void whatIsNotServedYetIsSaidSo(String field) {
        ada.post("/v1/vms", "{%s}".formatted(field)).expect(503, "UNAVAILABLE");
    }

    @Test
    void aCreateOfNothingSaidHasTheOldDefaults() {
        var wanted = NewLegacyVm.read(JsonObject.empty());
        assertEquals(Optional.of(Duration.ofSeconds(300)), wanted.settings().timers().idle());
        assertEquals("/", wanted.legacy().workdir());
        assertEquals(Optional.of(Duration.ofSeconds(120)), wanted.readiness());
        assertFalse(wanted.legacy().isDeclared());
        assertEquals(Optional.empty(), wanted.legacy().recipe());
        var declared =
                NewLegacyVm.read(
                        JsonObject.of(
                                Map.of(
                                        "template",
                                        Map.of("memSizeGb", 2, "vcpuCount", 3),
                                        "vcpuCount",
                                        4,
                                        "recreate",
                                        true,
                                        "waitForReadySignal",
                                        false,
                                        "activityThresholdBytes",
                                        7)));
        assertTrue(declared.legacy().isDeclared());
        assertTrue(declared.legacy().recipe().isPresent());
        assertEquals(Optional.empty(), declared.readiness());
        assertEquals(7, declared.settings().activityThreshold());
        assertEquals(Optional.of(4), declared.sizes().cpu());
        assertEquals(2048, declared.sizes().memory().orElseThrow().mib());
    }

    @Test
    void theServicesOfAVmThatIsNotThereAreNotThereEither() {
        var never = VmId.random().text();
        var base = "/v1/vms/%s/systemd".formatted(never);
        for (var path : List.of("/services", "/services/x/status", "/services/x/logs")) {
            ada.get(base + path).expect(404, "VM_NOT_FOUND");
        }
        ada.post(base + "/services", "{}").expect(404, "VM_NOT_FOUND");
        ada.post(base + "/start", "{}").expect(404, "VM_NOT_FOUND");
        ada.delete(base + "/services/x").expect(404, "VM_NOT_FOUND");
        ada.post("/v1/vms/stopped/systemd/start", "{}").expect(400, "VALIDATION_ERROR");
        ada.post("/v1/vms/stopped/systemd/start", "{\"services\":[]}")
                .expect(400, "VALIDATION_ERROR");
        ada.post("/v1/vms/stopped/systemd/services", "{\"name\":\"a b\"}")
                .expect(400, "SERVICE_NAME_INVALID_CHARS");
        ada.get("/v1/vms/stopped/systemd/services/x/logs?lines=0").expect(400, "VALIDATION_ERROR");
        ada.get("/v1/vms/stopped/systemd/services/x/logs?since=now")
                .expect(400, "VALIDATION_ERROR");
    }
}
