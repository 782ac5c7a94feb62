package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.VmRights;
import coppice.json.JsonObject;
import coppice.vm.GivenVms;
import coppice.vm.Snapshot;
import coppice.vm.SnapshotId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotRoutesTest {
    @TempDir private Path directory;
    private GivenVms given;
    private ApiCaller ada;
    private ApiCaller bob;

    @BeforeEach
    void open() {
        given = new GivenVms(directory);
        var routes =
                Stream.of(
                                new SnapshotRoutes(given.vms()).routes(),
                                new VmRoutes(
                                                given.vms(),
                                                given.networks(),
                                                Optional.empty(),
                                                VmRights.NONE)
                                        .routes())
                        .flatMap(List::stream)
                        .toList();
        ada = new ApiCaller(routes, given.ada().uuid());
        bob = ada.as(given.bob().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aSnapshotIsShownFieldByField() {
        var snapshot = given.snapshot(given.ada(), "web");
        var shown = ada.get("/v5/snapshots/web").expect(200);
        assertEquals(
                Set.of(
                        "id",
                        "public",
                        "slug",
                        "sourceVmId",
                        "accountId",
                        "autoDeleteFromPlan",
                        "resources",
                        "createdAt",
                        "updatedAt"),
                shown.fields());
        assertEquals(snapshot.id().text(), shown.requiredString("id"));
        assertEquals(false, shown.requiredBool("public"));
        assertEquals("web", shown.requiredString("slug"));
        assertEquals(snapshot.sourceVm().orElseThrow().text(), shown.requiredString("sourceVmId"));
        assertEquals(given.ada().toString(), shown.requiredString("accountId"));
        assertEquals(false, shown.requiredBool("autoDeleteFromPlan"));
        var resources = snapshot.resources().orElseThrow();
        assertEquals(
                JsonObject.of(
                        java.util.Map.of(
                                "cpu", resources.cpu(),
                                "memory", resources.memory().mib(),
                                "storage", resources.storage().mib())),
                shown.requiredObject("resources"));
        assertTrue(shown.requiredString("createdAt").matches("[0-9-]+T[0-9:]+\\.[0-9]{3}Z"));
    }

    @Test
    void anUpdateSetsLeavesAndClears() {
        var id = given.snapshot(given.ada(), "web").id();
        var set =
                ada.patch(
                                "/v5/snapshots/" + id,
                                "{\"displayName\":\"Web base\",\"autoDeleteSeconds\":60,\"ttlSeconds\":315360000}")
                        .expect(200);
        assertEquals("web", set.requiredString("slug"));
        assertEquals("Web base", set.requiredString("displayName"));
        assertEquals(60, set.requiredInteger("autoDeleteSeconds"));
        assertEquals(315_360_000, set.requiredInteger("ttlSeconds"));
        assertEquals(
                set.string("displayName"),
                ada.patch("/v5/snapshots/web", "{\"displayName\":null,\"slug\":null}")
                        .expect(200)
                        .string("displayName"));

        var cleared =
                ada.patch(
                                "/v5/snapshots/web",
                                "{\"slug\":\"\",\"displayName\":\"\",\"autoDeleteSeconds\":-1,\"ttlSeconds\":-1}")
                        .expect(200);
        for (var field : List.of("slug", "displayName", "autoDeleteSeconds", "ttlSeconds")) {
            assertTrue(!cleared.fields().contains(field), field);
        }
        ada.get("/v5/snapshots/web").expect(404, "NOT_FOUND");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"slug\":\"Bad\"",
                "\"slug\":\"a--b\"",
                "\"slug\":\"sh-0a1b2c3d4e5f6g7h8i9j\"",
                "\"slug\":\"sc-0a1b2c3d4e5f6g7h8i9j\"",
                "\"slug\":7",
                "\"displayName\":\"a\\nb\"",
                "\"displayName\":[]",
                "\"autoDeleteSeconds\":0",
                "\"autoDeleteSeconds\":-2",
                "\"autoDeleteSeconds\":315360001",
                "\"autoDeleteSeconds\":1.5",
                "\"ttlSeconds\":0",
                "\"ttlSeconds\":-2",
                "\"ttlSeconds\":315360001",
                "\"ttlSeconds\":\"60\""
            })
    void aWrongFieldIsRefusedByNameAndNothingChanges(String field) {
        given.snapshot(given.ada(), "web");
        var before = ada.get("/v5/snapshots/web").text();
        for (var answer :
                List.of(
                        ada.patch("/v5/snapshots/web", "{%s}".formatted(field)),
                        ada.post("/v5/vms/stopped/snapshot", "{%s}".formatted(field)))) {
            var refused = answer.expect(400, "BAD_REQUEST");
            var name = field.substring(1, field.indexOf('"', 1));
            assertTrue(refused.requiredString("message").startsWith(name), answer.text());
        }
        assertEquals(before, ada.get("/v5/snapshots/web").text());
    }

    @Test
    void aLongDisplayNameIsRefused() {
        given.snapshot(given.ada(), "web");
        var body = "{\"displayName\":\"%s\"}";
        ada.patch("/v5/snapshots/web", body.formatted("ä".repeat(128))).expect(200);
        ada.patch("/v5/snapshots/web", body.formatted("ä".repeat(129))).expect(400, "BAD_REQUEST");
    }

    @Test
    void aSlugOfAnotherSnapshotOfTheAccountIsAConflict() {
        given.snapshot(given.ada(), "web");
        given.snapshot(given.ada(), "db");
        given.snapshot(given.bob(), "mine");
        ada.patch("/v5/snapshots/db", "{\"slug\":\"web\"}").expect(409, "CONFLICT");
        ada.patch("/v5/snapshots/db", "{\"slug\":\"db\"}").expect(200);
        ada.patch("/v5/snapshots/db", "{\"slug\":\"mine\"}").expect(200);
    }

    @Test
    void aDeleteAnswersWithoutBodyAndFreesTheSlug() {
        var id = given.snapshot(given.ada(), "web").id();
        var answer = ada.delete("/v5/snapshots/" + id);
        answer.expect(204);
        assertEquals("", answer.text());
        ada.get("/v5/snapshots/" + id).expect(404, "NOT_FOUND");
        ada.delete("/v5/snapshots/" + id).expect(404, "NOT_FOUND");
        given.snapshot(given.ada(), "web");
    }

    @Test
    void anotherAccountsSnapshotIsExactlyAsAbsentAsARandomOne() {
        var hidden = given.snapshot(given.ada(), "web").id().text().substring(3);
        var never = SnapshotId.random().text().substring(3);
        for (var name : List.of("sh-%s", "sc-%s")) {
            var id = "/v5/snapshots/" + name.formatted(hidden);
            var other = "/v5/snapshots/" + name.formatted(never);
            assertSameAbsence(bob.get(id), bob.get(other), hidden, never);
            assertSameAbsence(bob.patch(id, "{}"), bob.patch(other, "{}"), hidden, never);
            assertSameAbsence(bob.delete(id), bob.delete(other), hidden, never);
        }
        for (var name : List.of("/v5/snapshots/%s", "/v5/snapshots/ada/%s")) {
            assertSameAbsence(
                    bob.get(name.formatted("web")), bob.get(name.formatted("nil")), "web", "nil");
        }
        assertEquals(0, bob.get("/v5/snapshots").expect(200).requiredInteger("totalCount"));
        ada.get("/v5/snapshots/web").expect(200);
    }

    private static void assertSameAbsence(
            ApiCaller.Answer hidden, ApiCaller.Answer never, String id, String other) {
        assertEquals(404, hidden.status(), hidden.text());
        assertEquals(never.text(), hidden.text().replace(id, other));
    }

    @Test
    void aPublicSnapshotIsReadByEveryoneAndItsSourceIsHidden() {
        var base = given.base("debian");
        for (var path : List.of(base.id().text(), "svc/debian", "svc%2Fdebian")) {
            var shown = bob.get("/v5/snapshots/" + path).expect(200);
            assertEquals(base.id().text(), shown.requiredString("id"));
            assertEquals(true, shown.requiredBool("public"));
            assertTrue(!shown.has("sourceVmId"));
        }
        for (var path : List.of("svc/debian", "svc%2Fdebian")) {
            bob.patch("/v5/snapshots/" + path, "{}").expect(404, "NOT_FOUND");
            bob.delete("/v5/snapshots/" + path).expect(404, "NOT_FOUND");
        }
        bob.patch("/v5/snapshots/" + base.id(), "{}").expect(404, "NOT_FOUND");
        bob.get("/v5/snapshots/debian").expect(404, "NOT_FOUND");
    }

    @Test
    void theSourceOfASnapshotIsShownToItsOwnerOnly() {
        var snapshot = given.snapshot(given.ada(), "web");
        assertTrue(SnapshotJson.write(snapshot, given.ada()).toObject().has("sourceVmId"));
        assertTrue(!SnapshotJson.write(snapshot, given.bob()).toObject().has("sourceVmId"));
    }

    @Test
    void theDefaultCannotBeDeletedByAnyone() {
        var id = given.base("debian").id();
        bob.delete("/v5/snapshots/" + id).expect(409, "CONFLICT");
        ada.as(given.platform().uuid()).delete("/v5/snapshots/debian").expect(409, "CONFLICT");
        bob.delete("/v5/snapshots/" + given.base("busybox").id()).expect(404, "NOT_FOUND");
    }

    @Test
    void aListHasTheAccountsOwnAndCountsBeforeItIsCut() {
        given.base("debian");
        given.failed(given.ada());
        var web = given.snapshot(given.ada(), "web-page");
        given.snapshot(given.ada(), "db");
        given.snapshot(given.bob(), "web");
        var all = ada.get("/v5/snapshots").expect(200);
        assertEquals(Set.of("snapshots", "totalCount"), all.fields());
        assertEquals(2, all.requiredInteger("totalCount"));
        assertEquals(2, all.requiredObjects("snapshots").size());
        var none = ada.get("/v5/snapshots?limit=0").expect(200);
        assertEquals(2, none.requiredInteger("totalCount"));
        assertEquals(List.of(), none.requiredObjects("snapshots"));
        var page = ada.get("/v5/snapshots?limit=1&offset=1").expect(200);
        assertEquals(
                all.requiredObjects("snapshots").get(1), page.requiredObjects("snapshots").get(0));
        assertEquals(List.of(web.id().text()), ids(ada.get("/v5/snapshots?search=B-P")));
        assertEquals(
                List.of(web.id().text()),
                ids(ada.get("/v5/snapshots?sourceVmId=" + web.sourceVm().orElseThrow())));
    }

    @Test
    void aListOfAVmThatNeverWasIsEmptyAndAnUnknownSlugIsNot() {
        assertEquals(List.of(), ids(ada.get("/v5/snapshots?sourceVmId=vm-00000000000000000000")));
        assertEquals(List.of(), ids(ada.get("/v5/snapshots?sourceVmId=stopped")));
        ada.get("/v5/snapshots?sourceVmId=nothing").expect(404, "NOT_FOUND");
        bob.get("/v5/snapshots?sourceVmId=stopped").expect(404, "NOT_FOUND");
        for (var wrong : List.of("limit=-1", "offset=x")) {
            ada.get("/v5/snapshots?" + wrong).expect(400, "BAD_REQUEST");
        }
    }

    private static List<String> ids(ApiCaller.Answer list) {
        return list.expect(200).requiredObjects("snapshots").stream()
                .map(snapshot -> snapshot.requiredString("id"))
                .toList();
    }

    @Test
    void takingAndForkingLookForTheVmBeforeTheyLookAtTheBody() {
        for (var verb : List.of("snapshot", "fork")) {
            var wrong = "{\"slug\":\"Bad\",\"count\":0}";
            ada.post("/v5/vms/nothing/" + verb, wrong).expect(404, "NOT_FOUND");
            bob.post("/v5/vms/stopped/" + verb, wrong).expect(404, "NOT_FOUND");
            ada.post("/v5/vms/stopped/" + verb, wrong).expect(400, "BAD_REQUEST");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"count\":0",
                "\"count\":11",
                "\"count\":-1",
                "\"count\":\"2\"",
                "\"displayName\":\"a\\u0007\"",
                "\"metadata\":{\"a:b\":\"c\"}",
                "\"metadata\":{\"a\":1}",
                "\"firewall\":{}",
                "\"firewall\":{\"rules\":[{\"action\":\"deny\"}]}",
                "\"firewall\":{\"rules\":[],\"more\":1}"
            })
    void aForkRefusesWrongFieldsByName(String field) {
        var refused =
                ada.post("/v5/vms/stopped/fork", "{%s}".formatted(field))
                        .expect(400, "BAD_REQUEST");
        var name = field.substring(1, field.indexOf('"', 1));
        assertTrue(
                refused.requiredString("message").startsWith(name),
                refused.requiredString("message"));
    }

    @Test
    void aForkRefusesRulesThatNameWhatIsAbsentOrThatAreTooMany() {
        var rule = "{\"action\":\"allow\",\"source\":{},\"destination\":%s}";
        var body = "{\"count\":10,\"firewall\":{\"rules\":[%s]}}";
        ada.post(
                        "/v5/vms/stopped/fork",
                        body.formatted(rule.formatted("{\"vmId\":\"vm-00000000000000000000\"}")))
                .expect(404, "NOT_FOUND");
        ada.post("/v5/vms/stopped/fork", body.formatted(rule.formatted("{\"tunnelId\":\"home\"}")))
                .expect(404, "NOT_FOUND");
        var many =
                String.join(
                        ",",
                        java.util.Collections.nCopies(101, rule.formatted("{\"public\":true}")));
        ada.post("/v5/vms/stopped/fork", body.formatted(many)).expect(409, "CONFLICT");
    }

    @Test
    void aNameOfNothingClearsNothing() {
        var settings =
                new Snapshot.Settings(
                        Optional.empty(), Optional.of("old"), Optional.empty(), Optional.empty());
        assertEquals(settings, SnapshotFields.settings(JsonObject.empty(), settings));
    }
}
