package coppice.api.v5;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.network.AccountNetworks;
import coppice.network.Ends;
import coppice.network.GivenNetworks;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Protocol;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The tables of contract/firewall.md about what is sent: of rules that stand alone, and of those inside of a create.
class RuleFieldsTest {
    private static final String PUBLIC = "{\"public\":true}";
    private static final MemberId VM = GivenNetworks.member();

    @TempDir private Path directory;

    private static JsonObject json(String text) {
        return Json.parse(text.getBytes(UTF_8));
    }

    private static JsonObject create(String... rules) {
        return json("{\"firewall\":{\"rules\":[%s]}}".formatted(String.join(",", rules)));
    }

    /// Everything is absent but one VM.
    private static Names names() {
        return new Names(
                name -> {
                    if (!name.equals("web")) {
                        throw new Failure(Code.NOT_FOUND, "no VM " + name);
                    }
                    return VM;
                },
                AccountNetworks.NONE);
    }

    private static void assertRefused(String at, Runnable read) {
        assertRefused(Code.BAD_REQUEST, at, read);
    }

    private static void assertRefused(Code code, String at, Runnable read) {
        var failure = assertThrows(Failure.class, read::run);
        assertEquals(code, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().startsWith(at + ": "), failure.getMessage());
    }

    /// The end, and which field of it is at fault; a dot is the end itself.
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{`public`:true,`more`:1} | more",
                "{`public`:true,`more`:null} | more",
                "{`vmId`:``} | vmId",
                "{`vmId`:7} | vmId",
                "{`vpcId`:``} | vpcId",
                "{`vpcId`:[]} | vpcId",
                "{`tunnelId`:``} | tunnelId",
                "{`tunnelId`:{}} | tunnelId",
                "{`cidr`:``} | cidr",
                "{`cidr`:true} | cidr",
                "{`cidr`:`10.0.0.0`} | cidr",
                "{`cidr`:`10.0.0.0/x`} | cidr",
                "{`cidr`:`10.0.0.0/33`} | cidr",
                "{`cidr`:`10.0.0/24`} | cidr",
                "{`cidr`:`fd00::/129`} | cidr",
                "{`cidr`:`fd00::/-1`} | cidr",
                "{`cidr`:`example.com/24`} | cidr",
                "{`cidr`:`203.0.113.7/24`} | cidr",
                "{`public`:false} | public",
                "{`public`:`true`} | public",
                "{`public`:1} | public",
                "{`public`:true,`vmId`:`web`} | public",
                "{`public`:true,`vpcId`:`x`} | public",
                "{`public`:true,`tunnelId`:`x`} | public",
                "{`public`:true,`port`:0,`protocol`:`tcp`} | port",
                "{`public`:true,`port`:65536,`protocol`:`tcp`} | port",
                "{`public`:true,`port`:-1,`protocol`:`udp`} | port",
                "{`public`:true,`port`:1.5,`protocol`:`tcp`} | port",
                "{`public`:true,`port`:`22`,`protocol`:`tcp`} | port",
                "{`public`:true,`port`:99999999999999999999,`protocol`:`tcp`} | port",
                "{`public`:true,`port`:22} | port",
                "{`public`:true,`port`:22,`protocol`:null} | port",
                "{`public`:true,`port`:22,`protocol`:`icmp`} | port",
                "{`public`:true,`protocol`:`sctp`} | protocol",
                "{`public`:true,`protocol`:`TCP`} | protocol",
                "{`public`:true,`protocol`:``} | protocol",
                "{`public`:true,`protocol`:6} | protocol"
            })
    void anEndThatIsWrongIsRefusedByItsField(String end, String field) {
        var wrong = end.replace('`', '"');
        for (var rule :
                List.of(NetworkServer.rule(wrong, PUBLIC), NetworkServer.rule(PUBLIC, wrong))) {
            var at = (rule.contains("\"source\":" + wrong) ? "source." : "destination.") + field;
            assertRefused(at, () -> RuleFields.rule(json(rule)));
        }
        var inline = create(NetworkServer.rule("{}", PUBLIC), NetworkServer.rule("{}", wrong));
        var at = "firewall.rules[1].destination." + field;
        assertRefused(at, () -> RuleFields.ofVm(inline, names()));
        assertRefused(at, () -> RuleFields.ofVmIfAny(inline, names()));
        assertRefused(at, () -> RuleFields.ofVpc(inline, names()));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{} | action",
                "{`source`:{},`destination`:{`public`:true}} | action",
                "{`action`:`deny`,`source`:{},`destination`:{`public`:true}} | action",
                "{`action`:``,`source`:{},`destination`:{`public`:true}} | action",
                "{`action`:null,`source`:{},`destination`:{`public`:true}} | action",
                "{`action`:`allow`,`destination`:{`public`:true}} | source",
                "{`action`:`allow`,`source`:null,`destination`:{`public`:true}} | source",
                "{`action`:`allow`,`source`:`web`,`destination`:{`public`:true}} | source",
                "{`action`:`allow`,`source`:[],`destination`:{`public`:true}} | source",
                "{`action`:`allow`,`source`:{`public`:true}} | destination",
                "{`action`:`allow`,`source`:{},`destination`:7} | destination",
                "{`action`:`allow`,`source`:{},`destination`:{`public`:true},`id`:`x`} | id",
                "{`action`:`allow`,`source`:{},`destination`:{`public`:true},`more`:null} | more",
                "{`action`:`allow`,`source`:{},`destination`:{`public`:true},`description`:7} | description"
            })
    void aRuleThatIsWrongIsRefusedByItsField(String rule, String field) {
        var wrong = rule.replace('`', '"');
        assertRefused(field, () -> RuleFields.rule(json(wrong.replace("{},", PUBLIC + ","))));
        var inline = create(wrong);
        var at = "firewall.rules[0]." + field;
        assertRefused(at, () -> RuleFields.ofVm(inline, names()));
        assertRefused(at, () -> RuleFields.ofVpc(inline, names()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "ä", "\uD83D\uDE00"})
    void aDescriptionHas1024CodeUnits(String text) {
        var rule =
                "{\"action\":\"allow\",\"source\":%1$s,\"destination\":%1$s,\"description\":\"%2$s\"}";
        var longest = text.repeat(1024 / text.length());
        assertEquals(
                Optional.of(longest),
                RuleFields.rule(json(rule.formatted(PUBLIC, longest))).description());
        assertRefused(
                "description", () -> RuleFields.rule(json(rule.formatted(PUBLIC, longest + "b"))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"protocol\":\"udp\"}",
                "{\"port\":22,\"protocol\":\"tcp\"}",
                "{\"vmId\":null,\"cidr\":null}"
            })
    void anEndThatSaysNothingOfWhoItIsIsRefusedOutsideOfACreate(String bare) {
        assertRefused("source", () -> RuleFields.rule(json(NetworkServer.rule(bare, PUBLIC))));
        assertRefused("destination", () -> RuleFields.rule(json(NetworkServer.rule(PUBLIC, bare))));
    }

    @Test
    void hostBitsAreRefusedWithTheNetworkThatIsMeant() {
        for (var sent : List.of("203.0.113.7/24 203.0.113.0/24", "2001:DB8::1/32 2001:db8::/32")) {
            var parts = sent.split(" ");
            var rule = NetworkServer.rule("{\"cidr\":\"%s\"}".formatted(parts[0]), PUBLIC);
            var failure = assertThrows(Failure.class, () -> RuleFields.rule(json(rule)));
            assertTrue(failure.getMessage().contains(parts[1]), failure.getMessage());
        }
    }

    @Test
    void whatIsOddButPossibleIsAccepted() {
        for (var end :
                List.of(
                        "{\"public\":true,\"cidr\":\"10.0.0.0/8\"}",
                        "{\"vmId\":\"web\",\"cidr\":\"0.0.0.0/0\"}",
                        "{\"public\":true,\"protocol\":\"icmp\"}",
                        "{\"cidr\":\"::/0\",\"port\":65535,\"protocol\":\"udp\"}")) {
            RuleFields.rule(json(NetworkServer.rule(end, end))).named(names());
        }
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{`firewall`:[]} | firewall",
                "{`firewall`:`none`} | firewall",
                "{`firewall`:{}} | firewall.rules",
                "{`firewall`:{`rules`:null}} | firewall.rules",
                "{`firewall`:{`rules`:{}}} | firewall.rules",
                "{`firewall`:{`rules`:[],`more`:1}} | firewall.more",
                "{`firewall`:{`rules`:[null]}} | firewall.rules[0]",
                "{`firewall`:{`rules`:[7]}} | firewall.rules[0]"
            })
    void aBlockThatIsWrongIsRefused(String body, String at) {
        var wrong = json(body.replace('`', '"'));
        assertRefused(at, () -> RuleFields.ofVm(wrong, names()));
        assertRefused(at, () -> RuleFields.ofVmIfAny(wrong, names()));
        assertRefused(at, () -> RuleFields.ofVpc(wrong, names()));
    }

    @Test
    void onlyACreateOfAVmNeedsABlock() {
        for (var body : List.of(JsonObject.empty(), json("{\"firewall\":null}"))) {
            assertRefused("firewall", () -> RuleFields.ofVm(body, names()));
            assertEquals(List.of(), RuleFields.ofVmIfAny(body, names()));
            assertEquals(List.of(), RuleFields.ofVpc(body, names()));
        }
        assertEquals(List.of(), RuleFields.ofVm(create(), names()));
    }

    @Test
    void inARuleOfAVmExactlyOneEndMeansTheVm() {
        assertRefused("firewall.rules[0].source", () -> ofVm(NetworkServer.rule("{}", "{}")));
        assertRefused("firewall.rules[0].source", () -> ofVm(NetworkServer.rule(PUBLIC, PUBLIC)));
        assertEquals(
                List.of(
                        Ends.rule(Matcher.BARE, Matcher.INTERNET),
                        Ends.rule(Matcher.INTERNET, Matcher.BARE)),
                ofVm(NetworkServer.rule("{}", PUBLIC) + "," + NetworkServer.rule(PUBLIC, "{}")));
    }

    private static List<?> ofVm(String rules) {
        return RuleFields.ofVm(create(rules), names());
    }

    @Test
    void inARuleOfANetworkOneEndOrBothMeanTheNetwork() {
        assertRefused(
                "firewall.rules[0].source",
                () -> RuleFields.ofVpc(create(NetworkServer.rule(PUBLIC, PUBLIC)), names()));
        var rules =
                RuleFields.ofVpc(
                        create(
                                NetworkServer.rule("{}", "{\"port\":22,\"protocol\":\"tcp\"}"),
                                NetworkServer.rule("{\"vmId\":\"web\"}", "{}")),
                        names());
        assertEquals(Matcher.BARE, rules.getFirst().source());
        assertEquals(Optional.of(22), rules.getFirst().destination().port());
        assertEquals(Optional.of(Protocol.TCP), rules.getFirst().destination().protocol());
        assertTrue(rules.getFirst().destination().isBare());
        assertEquals(Ends.rule(Ends.of(VM), Matcher.BARE), rules.getLast());
    }

    @Test
    void theShapeOfAllRulesIsLookedAtBeforeAnyName() {
        var absent = NetworkServer.rule("{}", "{\"vpcId\":\"nothing\"}");
        var wrong = NetworkServer.rule("{}", "{\"port\":1}");
        assertRefused(
                "firewall.rules[1].destination.port",
                () -> RuleFields.ofVm(create(absent, wrong), names()));
        assertRefused(
                Code.NOT_FOUND,
                "firewall.rules[1].destination.vpcId",
                () -> RuleFields.ofVm(create(NetworkServer.rule("{}", PUBLIC), absent), names()));
        assertRefused(
                Code.NOT_FOUND,
                "firewall.rules[0].source.vmId",
                () ->
                        RuleFields.ofVpc(
                                create(NetworkServer.rule("{\"vmId\":\"db\"}", "{}")), names()));
        assertRefused(
                Code.NOT_FOUND,
                "firewall.rules[0].destination.tunnelId",
                () ->
                        RuleFields.ofVmIfAny(
                                create(NetworkServer.rule("{}", "{\"tunnelId\":\"home\"}")),
                                names()));
    }

    @Test
    void networksAndTunnelsAreNamedByIdAndSlug() {
        var account = AccountId.random();
        try (var given = new GivenNetworks(directory)) {
            var vpc = given.vpc(account, "net");
            var tunnel = GivenNetworks.tunnel(account, "home");
            var networks = GivenNetworks.with(given.networks().of(account), tunnel);
            var names = new Names(_ -> VM, networks);
            for (var of :
                    List.of(
                            "{\"vpcId\":\"net\"} {\"tunnelId\":\"home\"}",
                            "{\"vpcId\":\"%s\"} {\"tunnelId\":\"%s\"}"
                                    .formatted(vpc.id(), tunnel.id()))) {
                var ends = of.split(" ");
                assertEquals(
                        Ends.rule(Ends.of(vpc.id()), Ends.of(tunnel.id())),
                        RuleFields.rule(json(NetworkServer.rule(ends[0], ends[1]))).named(names));
            }
        }
    }

    @Test
    void theTypesOfFieldsAreRefusedByTheRouteInTheSameWords() {
        try (var server = new NetworkServer(directory)) {
            ApiCaller ada = server.ada();
            var wrong = NetworkServer.rule("{\"vpcId\":7}", PUBLIC);
            NetworkServer.requireMessage(
                    ada.post("/v5/firewall/rules", wrong).expect(400, "BAD_REQUEST"),
                    "source.vpcId: ");
            NetworkServer.requireMessage(
                    ada.post("/v5/vpcs", "{\"firewall\":{\"rules\":[{},%s]}}".formatted(wrong))
                            .expect(400, "BAD_REQUEST"),
                    "firewall.rules[1].source.vpcId: ");
        }
    }
}
