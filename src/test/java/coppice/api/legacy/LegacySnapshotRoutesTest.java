package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.json.JsonObject;
import coppice.vm.GivenVms;
import coppice.vm.SnapshotId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LegacySnapshotRoutesTest {
    private static final String ALL = "/v1/vms/snapshots";

    @TempDir private Path directory;
    private GivenVms given;
    private ApiCaller ada;
    private ApiCaller bob;

    @BeforeEach
    void open() {
        given = new GivenVms(directory);
        ada =
                new ApiCaller(
                        new LegacySnapshotRoutes(given.vms().snapshots()).routes(),
                        given.ada().uuid());
        bob = ada.as(given.bob().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aListedSnapshotIsShownFieldByFieldAndWithoutAValueAsNull() {
        var snapshot = given.snapshot(given.ada(), "web");
        var item = only(ada.get(ALL));
        assertEquals(
                Set.of(
                        "snapshotId",
                        "sourceVmId",
                        "createdAt",
                        "accountId",
                        "name",
                        "failureReason",
                        "failed",
                        "deleted",
                        "snapshotPersistence",
                        "vcpuCount",
                        "memSizeMib",
                        "rootfsSizeMb"),
                item.fields());
        assertEquals(snapshot.id().text(), item.requiredString("snapshotId"));
        assertEquals(snapshot.sourceVm().orElseThrow().text(), item.requiredString("sourceVmId"));
        assertEquals(given.ada().toString(), item.requiredString("accountId"));
        assertTrue(item.isNull("name"));
        assertTrue(item.isNull("failureReason"));
        assertEquals(false, item.requiredBool("failed"));
        assertEquals(false, item.requiredBool("deleted"));
        assertEquals(
                JsonObject.of(Map.of("type", "sticky", "priority", 7)),
                item.requiredObject("snapshotPersistence"));
        var resources = snapshot.resources().orElseThrow();
        assertEquals(resources.cpu(), item.requiredInteger("vcpuCount"));
        assertEquals(resources.memory().mib(), item.requiredInteger("memSizeMib"));
        assertEquals(resources.storage().mib(), item.requiredInteger("rootfsSizeMb"));
    }

    @Test
    void aFailedOneSaysWhyAndHasNoSourceAndNoSize() {
        given.failed(given.ada());
        var item = only(ada.get(ALL + "?includeFailed=true"));
        assertEquals("the disk is full", item.requiredString("failureReason"));
        assertEquals(true, item.requiredBool("failed"));
        assertEquals("", item.requiredString("sourceVmId"));
        assertEquals(
                JsonObject.of(Map.of("type", "persistent")),
                item.requiredObject("snapshotPersistence"));
        for (var field : List.of("vcpuCount", "memSizeMib", "rootfsSizeMb")) {
            assertTrue(item.isNull(field), field);
        }
    }

    @Test
    void theDeletedAndTheFailedAreListedAndCountedWhenAskedFor() {
        var usable = given.snapshot(given.ada(), "usable").id().text();
        var deleted = given.snapshot(given.ada(), "deleted").id().text();
        var failed = given.failed(given.ada()).id().text();
        given.failed(given.bob());
        ada.delete(ALL + "/" + deleted).expect(200);

        assertListed("", 0, 0, Set.of(usable));
        assertListed("?includeDeleted=true", 0, 1, Set.of(usable, deleted));
        assertListed("?includeFailed=true", 1, 0, Set.of(usable, failed));
        assertListed(
                "?includeDeleted=true&includeFailed=true", 1, 1, Set.of(usable, deleted, failed));
        assertListed("?includeDeleted=false&includeFailed=", 0, 0, Set.of(usable));
        ada.get(ALL + "?includeDeleted=yes").expect(400, "BAD_REQUEST");
        assertEquals(
                3,
                ada.get(ALL + "?includeDeleted=true&includeFailed=true&limit=0")
                        .expect(200)
                        .requiredInteger("totalCount"));
    }

    private void assertListed(String query, long failed, long deleted, Set<String> ids) {
        var list = ada.get(ALL + query).expect(200);
        assertEquals(
                Set.of("snapshots", "totalCount", "failedCount", "deletedCount"), list.fields());
        assertEquals(ids.size(), list.requiredInteger("totalCount"), query);
        assertEquals(failed, list.requiredInteger("failedCount"), query);
        assertEquals(deleted, list.requiredInteger("deletedCount"), query);
        assertEquals(
                ids,
                list.requiredObjects("snapshots").stream()
                        .map(item -> item.requiredString("snapshotId"))
                        .collect(Collectors.toSet()),
                query);
    }

    private static JsonObject only(ApiCaller.Answer list) {
        var items = list.expect(200).requiredObjects("snapshots");
        assertEquals(1, items.size());
        return items.getFirst();
    }

    @Test
    void aRenameAnswersTheNameAndNullOrEmptyClearsIt() {
        var id = given.snapshot(given.ada(), "web").id().text();
        var old = id.replace("sh-", "sc-");
        var named = ada.patch(ALL + "/" + old, "{\"name\":\"Web\"}").expect(200);
        assertEquals(JsonObject.of(Map.of("snapshot_id", id, "name", "Web")), named);
        assertEquals("Web", only(ada.get(ALL)).requiredString("name"));
        assertEquals("Web", ada.patch(ALL + "/" + id, "{}").expect(200).requiredString("name"));
        for (var cleared : List.of("{\"name\":null}", "{\"name\":\"\"}")) {
            assertTrue(ada.patch(ALL + "/" + id, cleared).expect(200).isNull("name"));
            ada.patch(ALL + "/" + id, "{\"name\":\"Web\"}").expect(200);
        }
        ada.patch(ALL + "/" + id, "{\"name\":\"a\\nb\"}").expect(400, "BAD_REQUEST");
        ada.patch(ALL + "/" + id, "{\"name\":1}").expect(400, "BAD_REQUEST");
    }

    @Test
    void aDeleteAnswersBothSpellingsAndASecondOneThatItWasDeleted() {
        var id = given.snapshot(given.ada(), "web").id().text();
        assertEquals(
                JsonObject.of(Map.of("snapshot_id", id, "snapshotId", id)),
                ada.delete(ALL + "/" + id).expect(200));
        var again = ada.delete(ALL + "/" + id).expect(409, "SNAPSHOT_ALREADY_DELETED");
        assertEquals(id, again.requiredString("snapshotId"));
        var renamed = ada.patch(ALL + "/" + id, "{}").expect(404, "SNAPSHOT_NOT_FOUND");
        assertEquals(id, renamed.requiredString("snapshotId"));
        bob.delete(ALL + "/" + id).expect(404, "SNAPSHOT_NOT_FOUND");
    }

    @Test
    void theDefaultIsRefusedByItsNameForIt() {
        var id = given.base("debian").id().text();
        var refused = bob.delete(ALL + "/" + id).expect(409, "SNAPSHOT_IS_ACCOUNT_DEFAULT");
        assertEquals(id, refused.requiredString("snapshotId"));
        assertEquals("SNAPSHOT_IS_ACCOUNT_DEFAULT", refused.requiredString("error"));
        assertEquals(refused.requiredString("message"), refused.requiredString("description"));
    }

    @Test
    void anotherAccountsSnapshotIsExactlyAsAbsentAsARandomOne() {
        var hidden = given.snapshot(given.ada(), "web").id().text();
        var never = SnapshotId.random().text();
        var path = ALL + "/";
        for (var both :
                List.of(
                        List.of(bob.patch(path + hidden, "{}"), bob.patch(path + never, "{}")),
                        List.of(bob.delete(path + hidden), bob.delete(path + never)))) {
            both.getFirst().expect(404, "SNAPSHOT_NOT_FOUND");
            assertEquals(both.getLast().text(), both.getFirst().text().replace(hidden, never));
        }
        assertEquals(0, bob.get(ALL).expect(200).requiredInteger("totalCount"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"template\":null}",
                "{\"template\":{\"baseImage\":{\"dockerfileContent\":\"FROM x\"}}}",
                "{\"template\":{\"vcpuCount\":0}}",
                "{\"template\":{\"memSizeGb\":-1}}",
                "{\"template\":{\"rootfsSizeGb\":0}}",
                "{\"template\":{\"workdir\":\"here\"}}",
                "{\"template\":{\"idleTimeoutSeconds\":0}}",
                "{\"template\":{\"readySignalTimeoutSeconds\":3601}}",
                "{\"template\":{\"ports\":[{\"port\":80,\"targetPort\":80}]}}",
                "{\"template\":{\"persistence\":{\"type\":\"eternal\"}}}",
                "{\"template\":{},\"name\":\"a\\nb\"}",
                "{\"template\":{},\"persistence\":\"ephemeral\"}",
                "{\"template\":{},\"persistence\":{\"type\":\"sticky\",\"priority\":11}}"
            })
    void aTemplateThatCannotBeBuiltIsRefused(String body) {
        ada.post(ALL, body).expect(400, "CREATE_SNAPSHOT_BAD_REQUEST");
    }

    @Test
    void aTemplateOnWhatIsNoIdOrAbsentIsRefused() {
        var body = "{\"template\":{\"snapshotId\":\"%s\"}}";
        var hidden = given.snapshot(given.ada(), "web").id().text();
        ada.post(ALL, body.formatted("web")).expect(400, "INVALID_SNAPSHOT_ID");
        var refused = bob.post(ALL, body.formatted(hidden)).expect(404, "SNAPSHOT_NOT_FOUND");
        assertEquals(hidden, refused.requiredString("snapshotId"));
        ada.post(ALL, "{\"template\":[]}").expect(400, "BAD_REQUEST");
        ada.post(ALL, "{\"template\":{\"aptDeps\":[1]}}").expect(400, "BAD_REQUEST");
    }

    @Test
    void nothingBuildsTemplatesYet() {
        var hidden = given.snapshot(given.ada(), "web").id().text();
        for (var body :
                List.of(
                        "{\"template\":{}}",
                        "{\"template\":{\"snapshotId\":\"%s\"},\"name\":\"x\",\"persistence\":\"sticky\"}"
                                .formatted(hidden))) {
            ada.post(ALL, body).expect(503, "UNAVAILABLE");
        }
    }
}
