package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.network.AccountNetworks;
import coppice.network.Ends;
import coppice.network.GivenNetworks;
import coppice.network.Matcher;
import coppice.network.NewRule;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a rule says of the things that it is deleted with.
class RuleJsonTest {
    private static final AccountId ACCOUNT = AccountId.random();

    @TempDir private Path directory;

    private static List<JsonObject> dependencies(RuleJson json, NewRule rule) {
        return json.write(GivenNetworks.rule(ACCOUNT, rule))
                .toObject()
                .requiredObjects("dependencies");
    }

    @Test
    void eachThingIsToldOnceTheSourcesFirstByItsPresentNames() {
        try (var server = new NetworkServer(directory)) {
            var ada = server.ada();
            var vm = server.join(Optional.empty());
            var vpc = server.vpc("net");
            var rule = Ends.rule(Ends.of(vpc.id()), Ends.of(vm));
            var kept = server.given().networks().createRule(server.vms().ada(), rule).id();
            ada.patch("/v5/vpcs/net", "{\"slug\":\"new\",\"displayName\":\"The net\"}").expect(200);
            var settings = server.vms().stopped().settings();
            var told = new LinkedHashMap<String, String>();
            told.put("kind", "vm");
            told.put("id", vm.text());
            told.put("slug", "stopped");
            settings.displayName().ifPresent(name -> told.put("displayName", name));
            assertEquals(
                    List.of(
                            JsonObject.of(
                                    Map.of(
                                            "kind",
                                            "vpc",
                                            "id",
                                            vpc.id().text(),
                                            "slug",
                                            "new",
                                            "displayName",
                                            "The net")),
                            JsonObject.of(told)),
                    ada.get("/v5/firewall/rules/" + kept)
                            .expect(200)
                            .requiredObjects("dependencies"));
            ada.patch("/v5/vpcs/new", "{\"slug\":\"\",\"displayName\":\"\"}").expect(200);
            assertEquals(
                    JsonObject.of(Map.of("kind", "vpc", "id", vpc.id().text())),
                    ada.get("/v5/firewall/rules/" + kept)
                            .expect(200)
                            .requiredObjects("dependencies")
                            .getFirst());
        }
    }

    @Test
    void aThingOnBothSidesIsToldOnce() {
        var vm = GivenNetworks.member();
        var json = new RuleJson(AccountNetworks.NONE, _ -> Optional.empty());
        assertEquals(1, dependencies(json, Ends.rule(Ends.of(vm), Ends.of(vm))).size());
    }

    @Test
    void whatIsGoneMeanwhileIsToldWithoutNames() {
        var vm = GivenNetworks.member();
        var tunnel = GivenNetworks.tunnel(ACCOUNT, "home");
        var json = new RuleJson(AccountNetworks.NONE, _ -> Optional.empty());
        assertEquals(
                List.of(
                        JsonObject.of(Map.of("kind", "tunnel", "id", tunnel.id().text())),
                        JsonObject.of(Map.of("kind", "vm", "id", vm.text()))),
                dependencies(json, Ends.rule(Ends.of(tunnel.id()), Ends.of(vm))));
    }

    @Test
    void aVmThatGoesWhileItsRuleIsReadIsToldWithoutNames() {
        try (var server = new NetworkServer(directory)) {
            var vm = GivenNetworks.member();
            server.given().join(server.vms().ada(), vm, Optional.empty());
            server.given()
                    .networks()
                    .createRule(server.vms().ada(), Ends.rule(Ends.of(vm), Matcher.INTERNET));
            var rule =
                    server.ada()
                            .get("/v5/firewall/rules")
                            .expect(200)
                            .requiredObjects("rules")
                            .getFirst();
            assertEquals(
                    List.of(JsonObject.of(Map.of("kind", "vm", "id", vm.text()))),
                    rule.requiredObjects("dependencies"));
        }
    }

    @Test
    void aTunnelIsToldByItsNames() {
        var tunnel = GivenNetworks.tunnel(ACCOUNT, "home");
        var networks = GivenNetworks.with(AccountNetworks.NONE, tunnel);
        var json = new RuleJson(networks, _ -> Optional.empty());
        assertEquals(
                List.of(
                        JsonObject.of(
                                Map.of(
                                        "kind",
                                        "tunnel",
                                        "id",
                                        tunnel.id().text(),
                                        "slug",
                                        "home",
                                        "displayName",
                                        "The tunnel home"))),
                dependencies(json, Ends.rule(Ends.of(tunnel.id()), Matcher.INTERNET)));
    }

    @Test
    void aFilterOfATunnelSelectsTheRulesThatNameIt() {
        var tunnel = GivenNetworks.tunnel(ACCOUNT, "home");
        var networks = GivenNetworks.with(AccountNetworks.NONE, tunnel);
        var names =
                new Names(
                        name -> {
                            throw new AssertionError(name);
                        },
                        networks);
        for (var name : List.of("home", tunnel.id().text())) {
            var filter =
                    new RuleFilter(Optional.empty(), Optional.empty(), Optional.of(name))
                            .named(names);
            var of = Ends.of(tunnel.id());
            for (var rule :
                    List.of(Ends.rule(of, Matcher.INTERNET), Ends.rule(Matcher.INTERNET, of))) {
                assertEquals(true, filter.test(GivenNetworks.rule(ACCOUNT, rule)));
            }
            var other = Ends.rule(Matcher.INTERNET, Matcher.INTERNET);
            assertEquals(false, filter.test(GivenNetworks.rule(ACCOUNT, other)));
        }
    }
}
