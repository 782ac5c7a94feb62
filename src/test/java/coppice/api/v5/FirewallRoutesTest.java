package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.network.MemberId;
import coppice.network.NetworkLimits;
import coppice.network.RuleId;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import coppice.vm.VmId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The operations of contract/firewall.md, but evaluate.
class FirewallRoutesTest {
    private static final String RULES = "/v5/firewall/rules";
    private static final String PUBLIC = "{\"public\":true}";

    @TempDir private Path directory;
    private NetworkServer server;
    private ApiCaller ada;

    private void open(int rules) {
        server = new NetworkServer(directory, new NetworkLimits(rules, 100, 100, Optional.empty()));
        ada = server.ada();
    }

    @AfterEach
    void close() {
        server.close();
    }

    /// Its id.
    private String create(String source, String destination) {
        return ada.post(RULES, NetworkServer.rule(source, destination))
                .expect(200)
                .requiredString("id");
    }

    private static String vpc(String name) {
        return "{\"vpcId\":\"%s\"}".formatted(name);
    }

    private static String vm(String name) {
        return "{\"vmId\":\"%s\"}".formatted(name);
    }

    private List<String> list(String query) {
        var list = ada.get(RULES + query).expect(200);
        assertEquals(Set.of("rules", "totalCount"), list.fields());
        assertEquals(list.requiredObjects("rules").size(), list.requiredInteger("totalCount"));
        return NetworkServer.ids(list, "rules");
    }

    @Test
    void aRuleIsShownFieldByFieldWithIdsForSlugs() {
        open(10);
        var vpc = server.vpc("backend").id().text();
        var sent =
                """
                {"action":"allow","source":{"cidr":"2001:DB8:0::/32","public":true},
                 "destination":{"vpcId":"backend","port":5432,"protocol":"tcp"},"description":"app to \\"database\\""}
                """;
        var answer = ada.post(RULES, sent);
        var rule = answer.expect(200);
        assertFalse(answer.text().contains("null"), answer.text());
        assertEquals(
                Set.of(
                        "id",
                        "action",
                        "source",
                        "destination",
                        "description",
                        "dependencies",
                        "createdAt",
                        "updatedAt"),
                rule.fields());
        assertTrue(rule.requiredString("id").matches("fw-[a-z0-9]{20}"));
        assertEquals("allow", rule.requiredString("action"));
        assertEquals("app to \"database\"", rule.requiredString("description"));
        var source = rule.requiredObject("source");
        assertEquals(Set.of("cidr", "public"), source.fields());
        assertEquals("2001:db8::/32", source.requiredString("cidr"));
        assertTrue(source.requiredBool("public"));
        var destination = rule.requiredObject("destination");
        assertEquals(Set.of("vpcId", "port", "protocol"), destination.fields());
        assertEquals(vpc, destination.requiredString("vpcId"));
        assertEquals(5432, destination.requiredInteger("port"));
        assertEquals("tcp", destination.requiredString("protocol"));
        assertTrue(rule.requiredString("createdAt").matches("[0-9-]+T[0-9:]+\\.[0-9]{3}Z"));
        assertEquals(rule.requiredString("createdAt"), rule.requiredString("updatedAt"));
    }

    @Test
    void aRuleIsReadAsItWasMadeInBothFamiliesAndByAnotherServer() {
        open(10);
        server.vpc("net");
        var end = "{\"vpcId\":\"net\",\"port\":22,\"protocol\":\"tcp\"}";
        var made = ada.post("/firewall/rules", NetworkServer.rule(PUBLIC, end));
        var path = "/" + made.expect(200).requiredString("id");
        assertEquals(made.text(), ada.get(RULES + path).text());
        assertEquals(made.text(), ada.get("/firewall/rules" + path).text());
        server.given().reopen();
        assertEquals(made.text(), server.ada().get(RULES + path).text());
    }

    @Test
    void whatIsNullOrNotSaidIsAbsent() {
        open(10);
        var end =
                "{\"vmId\":null,\"vpcId\":null,\"tunnelId\":null,\"cidr\":null,\"public\":true,\"port\":null,\"protocol\":null}";
        var sent = NetworkServer.rule(end, end).replace("}}", "},\"description\":null}");
        var rule = ada.post(RULES, sent).expect(200);
        for (var field : List.of("source", "destination")) {
            assertEquals(Set.of("public"), rule.requiredObject(field).fields());
        }
        assertFalse(rule.fields().contains("description"));
        assertEquals(List.of(), rule.requiredObjects("dependencies"));
    }

    @Test
    void aRuleNamesVmsBySlugToo() {
        open(10);
        var vm = server.join(Optional.empty()).text();
        for (var name : List.of("stopped", vm)) {
            var id = create(vm(name), PUBLIC);
            var source = ada.get(RULES + "/" + id).expect(200).requiredObject("source");
            assertEquals(vm, source.requiredString("vmId"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"vmId\":\"nothing\"}",
                "{\"vmId\":\"vm-00000000000000000000\"}",
                "{\"vpcId\":\"nothing\"}",
                "{\"vpcId\":\"vpc-00000000000000000000\"}",
                "{\"tunnelId\":\"nothing\"}",
                "{\"tunnelId\":\"tun-00000000000000000000\"}",
                "{\"tunnelId\":\"wg-00000000000000000000\"}",
                "{\"vpcId\":\"a/b\\n\\u0000\"}"
            })
    void aRuleThatNamesWhatIsAbsentIsRefusedByField(String end) {
        open(0);
        var field = end.substring(2, end.indexOf('"', 2));
        NetworkServer.requireMessage(
                ada.post(RULES, NetworkServer.rule(end, PUBLIC)).expect(404, "NOT_FOUND"),
                "source." + field + ": ");
        NetworkServer.requireMessage(
                ada.post(RULES, NetworkServer.rule(PUBLIC, end)).expect(404, "NOT_FOUND"),
                "destination." + field + ": ");
    }

    @Test
    void theShapeIsLookedAtBeforeNamesAndNamesBeforeTheLimit() {
        open(0);
        var absent = vpc("nothing");
        ada.post(RULES, NetworkServer.rule(absent, "{\"port\":0}")).expect(400, "BAD_REQUEST");
        ada.post(RULES, NetworkServer.rule(PUBLIC, absent)).expect(404, "NOT_FOUND");
        ada.post(RULES, NetworkServer.rule(PUBLIC, PUBLIC)).expect(409, "CONFLICT");
    }

    @Test
    void theLimitCountsRulesOfCreatesAndIsFreedByDeletes() {
        open(3);
        var rules = "%1$s,%1$s".formatted(NetworkServer.rule("{}", PUBLIC));
        var body = "{\"firewall\":{\"rules\":[%s]}}".formatted(rules);
        var vpc = ada.post("/v5/vpcs", body).expect(200);
        var rule = create(PUBLIC, PUBLIC);
        ada.post(RULES, NetworkServer.rule(PUBLIC, PUBLIC)).expect(409, "CONFLICT");
        ada.post("/v5/vpcs", body).expect(409, "CONFLICT");
        assertEquals(1, ada.get("/v5/vpcs").expect(200).requiredInteger("totalCount"));
        server.bob().post(RULES, NetworkServer.rule(PUBLIC, PUBLIC)).expect(200);
        ada.delete(RULES + "/" + rule).expect(204);
        create(PUBLIC, PUBLIC);
        ada.delete("/v5/vpcs/" + vpc.requiredString("id")).expect(204);
        create(PUBLIC, PUBLIC);
        create(PUBLIC, PUBLIC);
        ada.post(RULES, NetworkServer.rule(PUBLIC, PUBLIC)).expect(409, "CONFLICT");
    }

    @Test
    void anIdenticalSecondRuleIsAccepted() {
        open(10);
        assertFalse(create(PUBLIC, PUBLIC).equals(create(PUBLIC, PUBLIC)));
    }

    @Test
    void aDeleteAnswersWithoutBodyAndLeavesWhatTheRuleNamed() {
        open(10);
        var rule = create(vpc(server.vpc("net").id().text()), PUBLIC);
        var answer = ada.delete("/firewall/rules/" + rule);
        answer.expect(204);
        assertEquals("", answer.text());
        ada.get(RULES + "/" + rule).expect(404, "NOT_FOUND");
        ada.delete(RULES + "/" + rule).expect(404, "NOT_FOUND");
        ada.get("/v5/vpcs/net").expect(200);
        server.given().reopen();
        server.ada().get(RULES + "/" + rule).expect(404, "NOT_FOUND");
    }

    @Test
    void aRuleCannotBeChanged() {
        open(10);
        var path = RULES + "/" + create(PUBLIC, PUBLIC);
        ada.patch(path, "{}").expect(405, "METHOD_NOT_ALLOWED");
        ada.post(path, "{}").expect(405, "METHOD_NOT_ALLOWED");
    }

    @Test
    void aListIsNewestFirstAndCountsBeforeItIsCut() {
        open(10);
        var one = create(PUBLIC, PUBLIC);
        var two = create(PUBLIC, PUBLIC);
        var three = create(PUBLIC, PUBLIC);
        assertEquals(List.of(three, two, one), list(""));
        assertEquals(List.of(three, two, one), list("?limit=5000"));
        var page = ada.get(RULES + "?limit=1&offset=1").expect(200);
        assertEquals(List.of(two), NetworkServer.ids(page, "rules"));
        assertEquals(3, page.requiredInteger("totalCount"));
        for (var empty : List.of("?limit=0", "?offset=3", "?offset=99999999999999999999")) {
            var none = ada.get(RULES + empty).expect(200);
            assertEquals(List.of(), none.requiredObjects("rules"));
            assertEquals(3, none.requiredInteger("totalCount"));
        }
        for (var wrong : List.of("limit=-1", "limit=x", "offset=1.5", "offset=-1")) {
            ada.get(RULES + "?" + wrong).expect(400, "BAD_REQUEST");
        }
        server.given().reopen();
        ada = server.ada();
        assertEquals(List.of(three, two, one), list(""));
    }

    @Test
    void filtersSelectAndIntersect() {
        open(20);
        var net = server.vpc("net");
        var other = server.vpc("other").id().text();
        var vm = server.join(Optional.of(net)).text();
        var ofVm = create(vm(vm), PUBLIC);
        var toVm = create(PUBLIC, vm(vm));
        var ofNet = create(vpc("net"), PUBLIC);
        var both = create(vpc(other), vpc("net"));
        var ofOther = create(PUBLIC, vpc(other));
        create(PUBLIC, PUBLIC);
        for (var name : List.of("stopped", vm)) {
            assertEquals(List.of(both, ofNet, toVm, ofVm), list("?vmId=" + name));
        }
        for (var name : List.of("net", net.id().text())) {
            assertEquals(List.of(both, ofNet), list("?vpcId=" + name));
        }
        assertEquals(List.of(ofOther, both), list("?vpcId=other"));
        assertEquals(List.of(both), list("?vmId=stopped&vpcId=other"));
        assertEquals(6, list("?vmId=&vpcId=&tunnelId=").size());
        var page = ada.get(RULES + "?vpcId=other&limit=1").expect(200);
        assertEquals(2, page.requiredInteger("totalCount"));
        assertEquals(List.of(ofOther), NetworkServer.ids(page, "rules"));
    }

    @Test
    void aFilterThatNamesWhatIsAbsentIsRefused() {
        open(10);
        server.given().vpc(server.vms().bob(), "bobs");
        for (var filter :
                List.of(
                        "vmId=nothing",
                        "vmId=" + VmId.random(),
                        "vpcId=nothing",
                        "vpcId=bobs",
                        "vpcId=" + VpcId.random(),
                        "tunnelId=nothing",
                        "tunnelId=" + TunnelId.random())) {
            var refused = ada.get(RULES + "?limit=0&" + filter).expect(404, "NOT_FOUND");
            NetworkServer.requireMessage(refused, filter.substring(0, filter.indexOf('=')) + ": ");
        }
    }

    @Test
    void anotherAccountsRuleIsExactlyAsAbsentAsARandomOne() {
        open(10);
        var vm = server.join(Optional.of(server.vpc("backend"))).text();
        var hidden = create(vm(vm), vpc("backend"));
        var never = RuleId.random().text();
        var bob = server.bob();
        for (var method : List.of("GET", "DELETE")) {
            var refused = bob.send(method, RULES + "/" + hidden, "");
            refused.expect(404, "NOT_FOUND");
            assertEquals(
                    bob.send(method, RULES + "/" + never, "").text(),
                    refused.text().replace(hidden, never));
        }
        for (var end : List.of(vm(vm), vm("stopped"), vpc("backend"))) {
            var other = end.contains("vm-") ? VmId.random().text() : "nothing";
            var random = end.replace(name(end), other);
            var refused = bob.post(RULES, NetworkServer.rule(end, PUBLIC));
            refused.expect(404, "NOT_FOUND");
            assertEquals(
                    bob.post(RULES, NetworkServer.rule(random, PUBLIC)).text(),
                    refused.text().replace(name(end), other));
        }
        assertEquals(0, bob.get(RULES).expect(200).requiredInteger("totalCount"));
        assertEquals(List.of(hidden), list(""));
    }

    private static String name(String end) {
        return end.split("\"")[3];
    }

    @Test
    void aNameThatIsNoIdIsAnAbsentRule() {
        open(10);
        for (var name : List.of("x", "fw-0", "fw-%2F", "FW-00000000000000000000", "%00")) {
            ada.get(RULES + "/" + name).expect(name.equals("%00") ? 400 : 404);
        }
    }

    @Test
    void rulesGoWithTheVmAndTheNetworkThatTheyName() {
        open(10);
        var net = server.vpc("net");
        server.vpc("other");
        var vm = server.join(Optional.of(net));
        create(vm("stopped"), PUBLIC);
        create(PUBLIC, vm("stopped"));
        var ofNet = create(vpc("other"), vpc("net"));
        var left = create(vpc("other"), PUBLIC);
        ada.delete("/v5/vpcs/net").expect(409, "CONFLICT");
        server.given().leave(server.vms().ada(), new MemberId(vm.text()));
        assertEquals(List.of(left, ofNet), list(""));
        ada.delete("/v5/vpcs/net").expect(204);
        assertEquals(List.of(left), list(""));
    }
}
