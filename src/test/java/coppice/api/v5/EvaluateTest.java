package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.api.ApiCaller;
import coppice.base.Cidr;
import coppice.json.JsonObject;
import coppice.network.NetworkLimits;
import coppice.network.VpcId;
import coppice.vm.VmId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The evaluation of contract/firewall.md over HTTP: what is said, what is filled in, and how the outcome is told.
class EvaluateTest {
    private static final Cidr HOST = Cidr.stored("2001:db8:10::/64");
    private static final JsonObject DENIED = JsonObject.of(Map.of("outcome", "denied"));

    @TempDir private Path directory;
    private NetworkServer server;
    private ApiCaller ada;

    @BeforeEach
    void open() {
        server = new NetworkServer(directory, new NetworkLimits(100, 10, 10, Optional.of(HOST)));
        ada = server.ada();
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    private String rule(String source, String destination) {
        return ada.post("/v5/firewall/rules", NetworkServer.rule(json(source), json(destination)))
                .expect(200)
                .requiredString("id");
    }

    private static String body(String source, String destination, String more) {
        return json("{'source':%s,'destination':%s%s}".formatted(source, destination, more));
    }

    private JsonObject evaluate(String source, String destination) {
        return evaluate(source, destination, ",'protocol':'tcp'");
    }

    private JsonObject evaluate(String source, String destination, String more) {
        return ada.post("/v5/firewall/evaluate", body(source, destination, more)).expect(200);
    }

    private static JsonObject allowed(String rule) {
        return JsonObject.of(Map.of("outcome", "allowedByRule", "ruleId", rule));
    }

    @Test
    void thePlatformIsAllowedWithoutRulesAndItsSideIsTold() {
        var platform = "{'platform':true}";
        var other = "{'address':'10.0.0.1'}";
        assertEquals(side("source"), evaluate(platform, other));
        assertEquals(side("destination"), evaluate(other, platform));
        assertEquals(side("both"), evaluate(platform, platform));
        var mail = "{'public':true,'port':25}";
        assertEquals(side("source"), evaluate(platform, mail));
        assertEquals(DENIED, evaluate("{'platform':false}", other));
    }

    private static JsonObject side(String side) {
        return JsonObject.of(Map.of("outcome", "allowedByPlatform", "side", side));
    }

    @Test
    void mailToTheInternetIsDeniedWhateverTheRules() {
        var rule = rule("{'cidr':'0.0.0.0/0'}", "{'cidr':'0.0.0.0/0'}");
        var closed = JsonObject.of(Map.of("outcome", "deniedByPlatform", "reason", "outboundMail"));
        var source = "{'address':'10.0.0.1'}";
        for (int port : new int[] {25, 465, 587}) {
            var stated = "{'public':true,'address':'10.0.0.9','port':%d}".formatted(port);
            var known = "{'address':'9.9.9.9','port':%d}".formatted(port);
            for (var destination : List.of(stated, known)) {
                assertEquals(closed, evaluate(source, destination));
                assertEquals(closed, evaluate(source, destination, ""));
                assertEquals(allowed(rule), evaluate(source, destination, ",'protocol':'udp'"));
            }
            var inside = "{'address':'10.0.0.9','port':%d}".formatted(port);
            assertEquals(allowed(rule), evaluate(source, inside));
            var denied = "{'address':'9.9.9.9','public':false,'port':%d}".formatted(port);
            assertEquals(allowed(rule), evaluate(source, denied));
        }
        assertEquals(allowed(rule), evaluate(source, "{'address':'9.9.9.9','port':26}"));
        assertEquals(allowed(rule), evaluate(source, "{'address':'9.9.9.9'}", ""));
    }

    @Test
    void theOldestRuleThatMatchesIsTold() {
        rule("{'cidr':'10.0.0.0/8'}", "{'cidr':'10.9.0.0/16'}");
        var oldest = rule("{'cidr':'10.0.0.0/8'}", "{'cidr':'10.0.0.0/8'}");
        var newer = rule("{'cidr':'10.0.0.1/32'}", "{'cidr':'10.0.0.2/32'}");
        assertEquals(allowed(oldest), evaluate("{'address':'10.0.0.1'}", "{'address':'10.0.0.2'}"));
        ada.delete("/v5/firewall/rules/" + oldest).expect(204);
        assertEquals(allowed(newer), evaluate("{'address':'10.0.0.1'}", "{'address':'10.0.0.2'}"));
        assertEquals(DENIED, evaluate("{'address':'10.0.0.2'}", "{'address':'10.0.0.1'}"));
    }

    @Test
    void aVmOfTheAccountIsInItsNetworksUnlessOthersAreSaid() {
        var net = server.vpc("net");
        var other = server.vpc("other").id();
        var vm = server.join(Optional.of(net)).text();
        var rule = rule("{'vpcId':'net'}", "{'vpcId':'other'}");
        var destination = "{'vpcIds':['%s']}".formatted(other);
        for (var name : List.of("stopped", vm)) {
            var source = "{'vmId':'%s'}".formatted(name);
            assertEquals(allowed(rule), evaluate(source, destination));
            assertEquals(allowed(rule), evaluate(source, "{'vpcIds':['nothing','other']}"));
            for (var said : List.of("'other'", "'nothing'", "")) {
                var elsewhere = "{'vmId':'%s','vpcIds':[%s]}".formatted(name, said);
                assertEquals(DENIED, evaluate(elsewhere, destination));
            }
            assertEquals(
                    allowed(rule),
                    evaluate("{'vmId':'%s','vpcIds':null}".formatted(name), destination));
        }
    }

    @Test
    void whatDoesNotResolveMatchesNoRuleAndIsNoMistake() {
        var net = server.vpc("net");
        server.join(Optional.of(net));
        rule("{'vpcId':'net'}", "{'vpcId':'net'}");
        var bob = server.bob();
        for (var source :
                List.of(
                        "{'vmId':'nothing'}",
                        "{'vmId':''}",
                        "{'vmId':'%s'}".formatted(VmId.random()),
                        "{'vmId':'x','vpcIds':['%s','']}".formatted(VpcId.random()),
                        "{'tunnelId':'tun-00000000000000000000'}",
                        "{'tunnelId':'home'}")) {
            assertEquals(DENIED, evaluate(source, "{'vmId':'stopped'}"));
        }
        var body = body("{'vmId':'stopped'}", "{'vpcIds':['%s']}".formatted(net.id()), "");
        assertEquals(DENIED, bob.post("/firewall/evaluate", body).expect(200));
    }

    @Test
    void anAddressIsPublicByItselfUnlessItIsSaid() {
        var rule = rule("{'public':true}", "{'cidr':'10.0.0.0/8'}");
        var destination = "{'address':'10.0.0.1'}";
        for (var address : List.of("9.9.9.9", "2600::1", "2001:db8:10::77")) {
            var source = "{'address':'%s'}".formatted(address);
            assertEquals(allowed(rule), evaluate(source, destination));
            source = "{'address':'%s','public':false}".formatted(address);
            assertEquals(DENIED, evaluate(source, destination));
        }
        for (var address : List.of("10.0.0.1", "fd00::1", "2001:db8::1")) {
            var source = "{'address':'%s'}".formatted(address);
            assertEquals(DENIED, evaluate(source, destination));
            source = "{'address':'%s','public':true}".formatted(address);
            assertEquals(allowed(rule), evaluate(source, destination));
        }
        assertEquals(allowed(rule), evaluate("{'public':true}", destination));
    }

    @Test
    void aVmIsKnownByItsNameWhateverItsAddress() {
        server.join(Optional.empty());
        var rule = rule("{'vmId':'stopped'}", "{'public':true,'port':443,'protocol':'tcp'}");
        var source = "{'vmId':'stopped','address':'10.1.2.3','port':40000}";
        assertEquals(allowed(rule), evaluate(source, "{'address':'9.9.9.9','port':443}"));
        assertEquals(DENIED, evaluate(source, "{'address':'9.9.9.9','port':443}", ""));
        assertEquals(DENIED, evaluate(source, "{'address':'9.9.9.9','port':80}"));
        assertEquals(DENIED, evaluate(source, "{'address':'9.9.9.9'}"));
        assertEquals(DENIED, evaluate("{'address':'10.1.2.3'}", "{'public':true,'port':443}"));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{} | source",
                "{'source':{'public':true}} | destination",
                "{'source':null,'destination':{'public':true}} | source",
                "{'source':[],'destination':{'public':true}} | source",
                "{'source':{'public':true},'destination':{'public':true},'more':1} | more",
                "{'source':{},'destination':{'public':true}} | source",
                "{'source':{'public':true},'destination':{'vmId':null}} | destination",
                "{'source':{'public':true,'more':1},'destination':{'public':true}} | source.more",
                "{'source':{'cidr':'10.0.0.0/8'},'destination':{'public':true}} | source.cidr",
                "{'source':{'platform':'yes'},'destination':{'public':true}} | source.platform",
                "{'source':{'vmId':7},'destination':{'public':true}} | source.vmId",
                "{'source':{'vpcIds':'net'},'destination':{'public':true}} | source.vpcIds",
                "{'source':{'vpcIds':[7]},'destination':{'public':true}} | source.vpcIds[0]",
                "{'source':{'tunnelId':[]},'destination':{'public':true}} | source.tunnelId",
                "{'source':{'address':'10.0.0'},'destination':{'public':true}} | source.address",
                "{'source':{'address':'example.com'},'destination':{'public':true}} | source.address",
                "{'source':{'address':''},'destination':{'public':true}} | source.address",
                "{'source':{'public':1},'destination':{'public':true}} | source.public",
                "{'source':{'public':true},'destination':{'port':0}} | destination.port",
                "{'source':{'public':true},'destination':{'port':65536}} | destination.port",
                "{'source':{'public':true},'destination':{'port':'22'}} | destination.port",
                "{'source':{'public':true},'destination':{'port':22},'protocol':'icmp'} | destination.port",
                "{'source':{'port':22},'destination':{'public':true},'protocol':'icmp'} | source.port",
                "{'source':{'public':true},'destination':{'public':true},'protocol':'sctp'} | protocol",
                "{'source':{'public':true},'destination':{'public':true},'protocol':6} | protocol"
            })
    void aDescriptionThatIsWrongIsRefusedByItsField(String body, String field) {
        NetworkServer.requireMessage(
                ada.post("/v5/firewall/evaluate", json(body)).expect(400, "BAD_REQUEST"),
                field + ": ");
    }

    @Test
    void nothingIsChanged() {
        rule("{'public':true}", "{'public':true}");
        var before = ada.get("/v5/firewall/rules").text();
        evaluate("{'public':true}", "{'public':true}");
        assertEquals(before, ada.get("/v5/firewall/rules").text());
    }
}
