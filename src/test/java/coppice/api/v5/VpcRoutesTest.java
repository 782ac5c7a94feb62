package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.base.Cidr;
import coppice.json.JsonObject;
import coppice.network.NetworkLimits;
import coppice.network.VpcId;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The operations of contract/vpcs.md on networks.
class VpcRoutesTest {
    private static final String VPCS = "/v5/vpcs";

    @TempDir private Path directory;
    private NetworkServer server;
    private ApiCaller ada;

    @BeforeEach
    void open() {
        server = new NetworkServer(directory, new NetworkLimits(6, 4, 4, Optional.empty()));
        ada = server.ada();
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    private JsonObject create(String body) {
        return ada.post(VPCS, json(body)).expect(200);
    }

    private long count() {
        return ada.get(VPCS).expect(200).requiredInteger("totalCount");
    }

    @Test
    void aNetworkIsShownFieldByField() {
        var created =
                create(
                        "{'cidr':'10.20.30.0/24','cidrV6':'FD3A:91c2:7b04:1::/64','slug':'backend','displayName':'The backend'}");
        assertEquals(
                Set.of("id", "cidr", "cidrV6", "slug", "displayName", "createdAt", "firewallRules"),
                created.fields());
        assertTrue(created.requiredString("id").matches("vpc-[a-z0-9]{20}"));
        assertEquals("10.20.30.0/24", created.requiredString("cidr"));
        assertEquals("fd3a:91c2:7b04:1::/64", created.requiredString("cidrV6"));
        assertEquals("backend", created.requiredString("slug"));
        assertEquals("The backend", created.requiredString("displayName"));
        assertTrue(created.requiredString("createdAt").matches("[0-9-]+T[0-9:]+\\.[0-9]{3}Z"));
        assertEquals(List.of(), created.requiredObjects("firewallRules"));
        var shown = ada.get(VPCS + "/backend");
        assertEquals(
                Set.of("id", "cidr", "cidrV6", "slug", "displayName", "createdAt"),
                shown.expect(200).fields());
        for (var path : List.of(VPCS, "/vpcs")) {
            var byId = path + "/" + created.requiredString("id");
            assertEquals(shown.text(), ada.get(byId).text());
        }
        server.given().reopen();
        assertEquals(shown.text(), server.ada().get(VPCS + "/backend").text());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{'cidr':null,'cidrV6':null,'slug':null,'displayName':null,'firewall':null}",
                "{'slug':'','displayName':'','unknown':7}",
                "{'firewall':{'rules':[]}}"
            })
    void whatIsNotSaidIsChosenOrAbsent(String body) {
        var created = create(body);
        assertEquals(
                Set.of("id", "cidr", "cidrV6", "createdAt", "firewallRules"), created.fields());
        var cidr = Cidr.stored(created.requiredString("cidr"));
        assertTrue(Cidr.stored("10.0.0.0/8").contains(cidr), cidr::toString);
        assertEquals(24, cidr.prefix());
        var cidrV6 = Cidr.stored(created.requiredString("cidrV6"));
        assertTrue(Cidr.stored("fd00::/8").contains(cidrV6), cidrV6::toString);
        assertEquals(64, cidrV6.prefix());
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "'cidr':'8.8.8.0/24' | cidr:",
                "'cidr':'10.0.0.0/15' | cidr:",
                "'cidr':'10.0.0.0/29' | cidr:",
                "'cidr':'10.0.0.1/24' | cidr: has host bits set; the network is 10.0.0.0/24",
                "'cidr':'fd00::/64' | cidr:",
                "'cidr':'' | cidr:",
                "'cidr':7 | cidr:",
                "'cidrV6':'fd00::/63' | cidrV6:",
                "'cidrV6':'fd00::1/64' | cidrV6:",
                "'cidrV6':'fdff:0:0:7::/64' | cidrV6:",
                "'cidrV6':'2600::/64' | cidrV6:",
                "'cidrV6':'10.0.0.0/24' | cidrV6:",
                "'slug':'Bad' | slug",
                "'slug':'a--b' | slug",
                "'slug':'vpc-0a1b2c3d4e5f6g7h8i9j' | slug",
                "'slug':7 | slug",
                "'displayName':'a\\u0007' | displayName",
                "'displayName':[] | displayName",
                "'firewall':[] | firewall:",
                "'firewall':{} | firewall.rules:",
                "'firewall':{'rules':[],'more':1} | firewall.more:",
                "'firewall':{'rules':[{'action':'deny'}]} | firewall.rules[0].action:"
            })
    void aFieldThatIsWrongIsRefusedByNameAndNothingIsMade(String field, String at) {
        var refused = ada.post(VPCS, json("{%s}".formatted(field))).expect(400, "BAD_REQUEST");
        NetworkServer.requireMessage(refused, at);
        assertEquals(0, count());
    }

    @Test
    void aSlugMayLookLikeAnIdOfSomethingElse() {
        create("{'slug':'vm-0a1b2c3d4e5f6g7h8i9j'}");
        create("{'slug':'vpc-0a1b2c3d4e5f6g7h8i9'}");
        ada.get(VPCS + "/vm-0a1b2c3d4e5f6g7h8i9j").expect(200);
    }

    @Test
    void theRulesOfANewNetworkNameItAndComeInTheirOrder() {
        server.join(Optional.empty());
        var created =
                create(
                        """
                        {'firewall':{'rules':[
                         {'action':'allow','source':{},'destination':{'port':22,'protocol':'tcp'}},
                         {'action':'allow','source':{'vmId':'stopped'},'destination':{},'description':'in'},
                         {'action':'allow','source':{},'destination':{'public':true}}]}}
                        """);
        var id = created.requiredString("id");
        var rules = created.requiredObjects("firewallRules");
        assertEquals(3, rules.size());
        var members = rules.getFirst();
        assertEquals(id, members.requiredObject("source").requiredString("vpcId"));
        assertEquals(id, members.requiredObject("destination").requiredString("vpcId"));
        assertEquals(22, members.requiredObject("destination").requiredInteger("port"));
        assertEquals(1, members.requiredObjects("dependencies").size());
        assertEquals("in", rules.get(1).requiredString("description"));
        assertEquals(2, rules.get(1).requiredObjects("dependencies").size());
        assertEquals(Set.of("public"), rules.get(2).requiredObject("destination").fields());
        for (var rule : rules) {
            var shown = ada.get("/v5/firewall/rules/" + rule.requiredString("id")).expect(200);
            assertEquals(rule, shown);
        }
    }

    @Test
    void nothingIsMadeWhenARuleIsRefused() {
        var fine = NetworkServer.rule("{}", "{\"public\":true}");
        var body = "{\"slug\":\"net\",\"firewall\":{\"rules\":[%s]}}";
        var absent = NetworkServer.rule("{}", "{\"vpcId\":\"nothing\"}");
        var wrong = NetworkServer.rule("{}", "{\"port\":1}");
        var many = String.join(",", Collections.nCopies(7, fine));
        NetworkServer.requireMessage(
                ada.post(VPCS, body.formatted(fine + "," + absent)).expect(404, "NOT_FOUND"),
                "firewall.rules[1].destination.vpcId: ");
        NetworkServer.requireMessage(
                ada.post(VPCS, body.formatted(absent + "," + wrong)).expect(400, "BAD_REQUEST"),
                "firewall.rules[1].destination.port: ");
        ada.post(VPCS, body.formatted(many)).expect(409, "CONFLICT");
        assertEquals(0, count());
        assertEquals(0, ada.get("/v5/firewall/rules").expect(200).requiredInteger("totalCount"));
        server.given().reopen();
        ada = server.ada();
        assertEquals(0, count());
        create("{'slug':'net'}");
    }

    @Test
    void fieldsAreLookedAtBeforeNamesAndNamesBeforeWhatIsTaken() {
        create("{'slug':'net'}");
        var absent = NetworkServer.rule("{}", "{\"vpcId\":\"nothing\"}");
        var firewall = "\"firewall\":{\"rules\":[%s]}".formatted(absent);
        for (var wrong : List.of("'slug':'Bad'", "'cidr':'8.8.8.0/24'", "'cidrV6':'::/64'")) {
            var body = "{%s,%s}".formatted(json(wrong), firewall);
            ada.post(VPCS, body).expect(400, "BAD_REQUEST");
        }
        ada.post(VPCS, "{\"slug\":\"net\",%s}".formatted(firewall)).expect(404, "NOT_FOUND");
    }

    @Test
    void aSlugThatIsTakenIsAConflictUntilItsHolderIsGone() {
        create("{'slug':'net'}");
        var other = create("{'slug':'other'}").requiredString("id");
        ada.post(VPCS, json("{'slug':'net'}")).expect(409, "CONFLICT");
        ada.patch(VPCS + "/other", json("{'slug':'net'}")).expect(409, "CONFLICT");
        ada.patch(VPCS + "/other", json("{'slug':'other'}")).expect(200);
        server.bob().post(VPCS, json("{'slug':'net'}")).expect(200);
        ada.delete(VPCS + "/net").expect(204);
        assertEquals(
                other,
                ada.patch(VPCS + "/other", json("{'slug':'net'}"))
                        .expect(200)
                        .requiredString("id"));
    }

    @Test
    void anAccountHasAsManyNetworksAsItMayAndEqualRangesAreFine() {
        for (int i = 0; i < 4; i++) {
            create("{'cidr':'10.0.0.0/16','cidrV6':'fd00::/64'}");
        }
        ada.post(VPCS, "{}").expect(409, "CONFLICT");
        server.bob().post(VPCS, "{}").expect(200);
    }

    @Test
    void anUpdateSetsLeavesAndClears() {
        var path = VPCS + "/" + create("{'slug':'net'}").requiredString("id");
        var before = ada.get(path).expect(200);
        var set =
                ada.patch(path, json("{'displayName':'The net','cidr':'10.0.0.0/8'}")).expect(200);
        assertEquals("net", set.requiredString("slug"));
        assertEquals("The net", set.requiredString("displayName"));
        assertEquals(before.string("cidr"), set.string("cidr"));
        assertEquals(before.string("createdAt"), set.string("createdAt"));
        assertFalse(set.has("firewallRules"));
        assertEquals(set, ada.patch(path, "").expect(200));
        assertEquals(
                set, ada.patch("/vpcs/net", json("{'slug':null,'displayName':null}")).expect(200));
        server.given().reopen();
        ada = server.ada();
        assertEquals(set, ada.get(path).expect(200));
        var cleared = ada.patch(path, json("{'slug':'','displayName':''}")).expect(200);
        assertEquals(Set.of("id", "cidr", "cidrV6", "createdAt"), cleared.fields());
        ada.get(VPCS + "/net").expect(404, "NOT_FOUND");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'slug':'Bad'",
                "'slug':'vpc-0a1b2c3d4e5f6g7h8i9j'",
                "'slug':7",
                "'displayName':'a\\nb'",
                "'displayName':{}"
            })
    void anUpdateThatIsWrongIsRefusedByNameAndNothingChanges(String field) {
        create("{'slug':'net'}");
        var before = ada.get(VPCS + "/net").text();
        var body = json("{%s}".formatted(field));
        var refused = ada.patch(VPCS + "/net", body).expect(400, "BAD_REQUEST");
        NetworkServer.requireMessage(refused, field.substring(1, field.indexOf('\'', 1)));
        assertEquals(before, ada.get(VPCS + "/net").text());
    }

    @Test
    void anUpdateLooksForTheNetworkBeforeItsFields() {
        ada.patch(VPCS + "/nothing", json("{'slug':'Bad'}")).expect(404, "NOT_FOUND");
    }

    @Test
    void aNameHasAtMost128Characters() {
        create("{'displayName':'%s'}".formatted("ä".repeat(128)));
        ada.post(VPCS, json("{'displayName':'%s'}".formatted("ä".repeat(129))))
                .expect(400, "BAD_REQUEST");
    }

    @Test
    void aListIsNewestFirstAndCountsBeforeItIsCut() {
        var one = create("{'slug':'one'}").requiredString("id");
        var two = create("{}").requiredString("id");
        var three = create("{}").requiredString("id");
        var all = ada.get(VPCS).expect(200);
        assertEquals(Set.of("vpcs", "totalCount"), all.fields());
        assertEquals(List.of(three, two, one), NetworkServer.ids(all, "vpcs"));
        assertEquals(ada.get(VPCS + "/one").expect(200), all.requiredObjects("vpcs").getLast());
        var page = ada.get("/vpcs?limit=1&offset=1").expect(200);
        assertEquals(List.of(two), NetworkServer.ids(page, "vpcs"));
        assertEquals(3, page.requiredInteger("totalCount"));
        var none = ada.get(VPCS + "?limit=0").expect(200);
        assertEquals(List.of(), none.requiredObjects("vpcs"));
        assertEquals(3, none.requiredInteger("totalCount"));
        for (var wrong : List.of("limit=-1", "offset=x")) {
            ada.get(VPCS + "?" + wrong).expect(400, "BAD_REQUEST");
        }
    }

    @Test
    void aDeleteAnswersWithoutBodyOnceNothingIsInTheNetwork() {
        var net = server.vpc("net");
        var vm = server.join(Optional.of(net));
        var refused = ada.delete(VPCS + "/net").expect(409, "CONFLICT");
        assertTrue(refused.requiredString("message").contains(vm.text()));
        server.given().leave(server.vms().ada(), vm);
        var answer = ada.delete(VPCS + "/" + net.id());
        answer.expect(204);
        assertEquals("", answer.text());
        ada.delete(VPCS + "/" + net.id()).expect(404, "NOT_FOUND");
        ada.get(VPCS + "/net").expect(404, "NOT_FOUND");
        create("{'slug':'net'}");
    }

    @Test
    void anotherAccountsNetworkIsExactlyAsAbsentAsARandomOne() {
        var hidden = create("{'slug':'hidden'}").requiredString("id");
        var bob = server.bob();
        for (var pair :
                List.of(List.of(hidden, VpcId.random().text()), List.of("hidden", "nothing"))) {
            for (var method : List.of("GET", "PATCH", "DELETE")) {
                var body = method.equals("PATCH") ? "{}" : "";
                var refused = bob.send(method, VPCS + "/" + pair.getFirst(), body);
                var never = bob.send(method, VPCS + "/" + pair.getLast(), body);
                refused.expect(404, "NOT_FOUND");
                assertEquals(never.text(), refused.text().replace(pair.getFirst(), pair.getLast()));
            }
        }
        assertEquals(0, bob.get(VPCS).expect(200).requiredInteger("totalCount"));
        ada.get(VPCS + "/hidden").expect(200);
    }

    @Test
    void anUnlikelyNameIsAbsent() {
        var longest = "a".repeat(5000);
        var refused = ada.get(VPCS + "/" + longest).expect(404, "NOT_FOUND");
        assertTrue(refused.requiredString("message").length() < 200);
        ada.get(VPCS + "/a%0Ab%2Fc").expect(404, "NOT_FOUND");
    }
}
