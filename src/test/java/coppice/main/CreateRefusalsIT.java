package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What a create refuses: the rows of contract/vms.md and of contract/firewall.md for rules inside it. A refused create leaves no VM.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CreateRefusalsIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    private static final String SELF = "\"source\":{}";

    /// Fields of a create, and what the message must name.
    private static final String[][] WRONG_FIELDS = {
        {"\"slug\":\"Upper\"", "slug"},
        {"\"slug\":\"-dash\"", "slug"},
        {"\"slug\":\"snapshots\"", "slug"},
        {"\"slug\":\"vm-00000000000000000000\"", "slug"},
        {"\"slug\":\"%s\"".formatted("a".repeat(64)), "slug"},
        {"\"slug\":7", "slug"},
        {"\"displayName\":\"%s\"".formatted("n".repeat(129)), "displayName"},
        {"\"displayName\":\"a\\u0007b\"", "displayName"},
        {"\"reassignSlug\":true", "reassignSlug"},
        {"\"idleTimeoutSeconds\":0", "idleTimeoutSeconds"},
        {"\"idleTimeoutSeconds\":-2", "idleTimeoutSeconds"},
        {"\"ttlSeconds\":1.5", "ttlSeconds"},
        {"\"maxRunSeconds\":315360001", "maxRunSeconds"},
        {"\"maxRunTotalSeconds\":\"1\"", "maxRunTotalSeconds"},
        {"\"autoDeleteSeconds\":-5", "autoDeleteSeconds"},
        {"\"automaticRestart\":\"yes\"", "automaticRestart"},
        {"\"metadata\":{\"a:b\":\"c\"}", "metadata"},
        {"\"metadata\":{\"\":\"c\"}", "metadata"},
        {"\"metadata\":{\"a\":\"%s\"}".formatted("x".repeat(64)), "metadata"},
        {"\"metadata\":{\"a\":1}", "metadata"},
        {
            "\"metadata\":{%s}"
                    .formatted(
                            IntStream.range(0, 65)
                                    .mapToObj(i -> "\"k%d\":\"v\"".formatted(i))
                                    .collect(Collectors.joining(","))),
            "metadata"
        },
        {"\"vpcs\":[{},{}]", "vpcs"},
        {"\"vpcs\":[],\"networks\":[]", "networks"},
        {
            "\"placement\":{\"antiAffinity\":[{\"topology\":\"rack\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}",
            "topology"
        },
        {
            "\"placement\":{\"antiAffinity\":[{\"topology\":\"node\",\"selector\":{\"matchLabels\":{}}}]}",
            "matchLabels"
        },
        {"\"tls\":{\"rules\":[],\"x\":1}", "tls.x"},
    };

    /// Rules, and what the message must name.
    private static final String[][] WRONG_RULES = {
        {"{}", "action"},
        {"{\"action\":\"deny\"}", "action"},
        {"{\"action\":\"allow\"}", "source"},
        {"{\"action\":\"allow\",%s}".formatted(SELF), "destination"},
        {"{\"action\":\"allow\",%s,\"destination\":{}}".formatted(SELF), "source"},
        {
            "{\"action\":\"allow\",\"source\":{\"public\":true},\"destination\":{\"public\":true}}",
            "source"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":false}}".formatted(SELF),
            "destination.public"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"vmId\":\"x\"}}"
                    .formatted(SELF),
            "destination.public"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"vmId\":\"\"}}".formatted(SELF),
            "destination.vmId"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"10.0.0.0\"}}".formatted(SELF),
            "destination.cidr"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"10.0.0.0/33\"}}".formatted(SELF),
            "destination.cidr"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"203.0.113.9/24\"}}"
                    .formatted(SELF),
            "203.0.113.0/24"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"2001:db8::1/32\"}}"
                    .formatted(SELF),
            "destination.cidr"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":80}}"
                    .formatted(SELF),
            "destination.port"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":0,\"protocol\":\"tcp\"}}"
                    .formatted(SELF),
            "destination.port"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":8,\"protocol\":\"icmp\"}}"
                    .formatted(SELF),
            "destination.port"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"protocol\":\"sctp\"}}"
                    .formatted(SELF),
            "destination.protocol"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"x\":1}}".formatted(SELF),
            "destination.x"
        },
        {
            "{\"action\":\"allow\",%s,\"destination\":{\"public\":true},\"extra\":1}"
                    .formatted(SELF),
            "extra"
        },
    };

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        client.createVm("{\"slug\":\"here\"," + NO_RULES + "}");
    }

    private void refusesCreate(int status, String code, String fields, String named) {
        var answer = client.post("/v5/vms", "{%s}".formatted(fields));
        answer.expect(status, code);
        assertTrue(answer.message().contains(named), answer.message());
        assertEquals(
                1,
                client.get("/v5/vms").expect(200).requiredInteger("totalCount"),
                "a refused create leaves no VM");
    }

    @Test
    void aCreateNeedsItsFirewall() {
        refusesCreate(400, "BAD_REQUEST", "", "firewall");
        refusesCreate(400, "BAD_REQUEST", "\"firewall\":null", "firewall");
        refusesCreate(400, "BAD_REQUEST", "\"firewall\":{}", "firewall.rules");
        refusesCreate(
                400, "BAD_REQUEST", "\"firewall\":{\"rules\":[],\"more\":1}", "firewall.more");
    }

    @Test
    void aCreateRefusesWrongFieldsByName() {
        for (var wrong : WRONG_FIELDS) {
            refusesCreate(400, "BAD_REQUEST", NO_RULES + "," + wrong[0], wrong[1]);
        }
    }

    @Test
    void firewallRulesAreCheckedFieldByField() {
        for (var wrong : WRONG_RULES) {
            refusesCreate(
                    400,
                    "BAD_REQUEST",
                    "\"firewall\":{\"rules\":[%s]}".formatted(wrong[0]),
                    wrong[1]);
        }
        var unknown = "{\"action\":\"allow\",\"source\":{},\"destination\":{\"%s\":\"%s\"}}";
        refusesCreate(
                404,
                "NOT_FOUND",
                "\"firewall\":{\"rules\":[%s]}"
                        .formatted(unknown.formatted("vmId", "vm-00000000000000000000")),
                "vm-0");
        refusesCreate(
                404,
                "NOT_FOUND",
                "\"firewall\":{\"rules\":[%s]}".formatted(unknown.formatted("vpcId", "backend")),
                "backend");
    }

    @Test
    void moreRulesThanAnAccountMayHaveAreAConflict() {
        var rule = "{\"action\":\"allow\",\"source\":{},\"destination\":{\"public\":true}}";
        var many = String.join(",", java.util.Collections.nCopies(1001, rule));
        refusesCreate(
                409, "CONFLICT", "\"firewall\":{\"rules\":[%s]}".formatted(many), "firewall.rules");

        var half = String.join(",", java.util.Collections.nCopies(600, rule));
        var holder = client.createVm("{\"firewall\":{\"rules\":[%s]}}".formatted(half));
        client.post("/v5/vms", "{\"firewall\":{\"rules\":[%s]}}".formatted(half))
                .expect(409, "CONFLICT");
        client.delete("/v5/vms/" + holder).expect(204);
    }

    @Test
    void aCreateRefusesWhatIsAbsentTakenOrNotThereYet() {
        refusesCreate(
                404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"sh-00000000000000000000\"", "sh-0");
        refusesCreate(
                404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"svc/nothing\"", "svc/nothing");
        refusesCreate(404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"busybox\"", "busybox");
        refusesCreate(409, "CONFLICT", NO_RULES + ",\"slug\":\"here\"", "slug");
        refusesCreate(
                404, "NOT_FOUND", NO_RULES + ",\"vpcs\":[{\"vpcId\":\"x\"}]", "vpcs[0].vpcId");
        refusesCreate(503, "UNAVAILABLE", NO_RULES + ",\"tls\":{\"rules\":[{}]}", "tls");
    }

    @Test
    void placementThatThisOneHostCannotSatisfyIsAConflict() {
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"db\"}}").expect(200);
        var apart =
                "\"placement\":{\"antiAffinity\":[{\"topology\":\"node\",\"selector\":{\"matchLabels\":{\"app\":\"db\"}}}]}";
        refusesCreate(409, "CONFLICT", NO_RULES + "," + apart, "placement");
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"\"}}").expect(200);

        var later = client.createVm("{%s,%s}".formatted(NO_RULES, apart));
        client.post("/v5/vms/%s/stop".formatted(later), "{}").expect(200);
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"db\"}}").expect(200);
        var start = client.post("/v5/vms/%s/start".formatted(later), "{}");
        start.expect(409, "CONFLICT");
        assertTrue(start.message().contains("placement"), start.message());
        client.delete("/v5/vms/" + later).expect(204);
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"\"}}").expect(200);
    }
}
