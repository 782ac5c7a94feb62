package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Deadline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The rows of the error tables of contract/vms.md for what is served. A refused request changes nothing.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RefusalsIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm("{\"slug\":\"here\"," + NO_RULES + "}");
    }

    @AfterAll
    void end() {
        if (installation != null) {
            installation.close();
        }
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
        for (var wrong :
                new String[][] {
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
                }) {
            refusesCreate(400, "BAD_REQUEST", NO_RULES + "," + wrong[0], wrong[1]);
        }
    }

    @Test
    void firewallRulesAreCheckedFieldByField() {
        var self = "\"source\":{}";
        for (var wrong :
                new String[][] {
                    {"{}", "action"},
                    {"{\"action\":\"deny\"}", "action"},
                    {"{\"action\":\"allow\"}", "source"},
                    {"{\"action\":\"allow\",%s}".formatted(self), "destination"},
                    {"{\"action\":\"allow\",%s,\"destination\":{}}".formatted(self), "source"},
                    {
                        "{\"action\":\"allow\",\"source\":{\"public\":true},\"destination\":{\"public\":true}}",
                        "source"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":false}}"
                                .formatted(self),
                        "destination.public"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"vmId\":\"x\"}}"
                                .formatted(self),
                        "destination.public"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"vmId\":\"\"}}".formatted(self),
                        "destination.vmId"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"10.0.0.0\"}}"
                                .formatted(self),
                        "destination.cidr"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"10.0.0.0/33\"}}"
                                .formatted(self),
                        "destination.cidr"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"203.0.113.9/24\"}}"
                                .formatted(self),
                        "203.0.113.0/24"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"cidr\":\"2001:db8::1/32\"}}"
                                .formatted(self),
                        "destination.cidr"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":80}}"
                                .formatted(self),
                        "destination.port"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":0,\"protocol\":\"tcp\"}}"
                                .formatted(self),
                        "destination.port"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"port\":8,\"protocol\":\"icmp\"}}"
                                .formatted(self),
                        "destination.port"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"protocol\":\"sctp\"}}"
                                .formatted(self),
                        "destination.protocol"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true,\"x\":1}}"
                                .formatted(self),
                        "destination.x"
                    },
                    {
                        "{\"action\":\"allow\",%s,\"destination\":{\"public\":true},\"extra\":1}"
                                .formatted(self),
                        "extra"
                    },
                }) {
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
    void aCreateRefusesWhatIsAbsentTakenOrNotThereYet() {
        refusesCreate(
                404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"sh-00000000000000000000\"", "sh-0");
        refusesCreate(
                404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"svc/nothing\"", "svc/nothing");
        refusesCreate(404, "NOT_FOUND", NO_RULES + ",\"snapshotId\":\"busybox\"", "busybox");
        refusesCreate(409, "CONFLICT", NO_RULES + ",\"slug\":\"here\"", "slug");
        refusesCreate(503, "UNAVAILABLE", NO_RULES + ",\"vpcs\":[{\"vpcId\":\"x\"}]", "vpcs");
        refusesCreate(503, "UNAVAILABLE", NO_RULES + ",\"tls\":{\"rules\":[{}]}", "tls");
    }

    @Test
    void placementThatThisOneHostCannotSatisfyIsAConflict() {
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"db\"}}").expect(200);
        var apart =
                "\"placement\":{\"antiAffinity\":[{\"topology\":\"node\",\"selector\":{\"matchLabels\":{\"app\":\"db\"}}}]}";
        refusesCreate(409, "CONFLICT", NO_RULES + "," + apart, "placement");
        client.patch("/v5/vms/here", "{\"metadata\":{\"app\":\"\"}}").expect(200);
    }

    @Test
    void anUpdateRefusesWhatACreateRefusesAndChangesNothing() {
        var other = client.createVm("{\"slug\":\"other\"," + NO_RULES + "}");
        var before = client.get("/v5/vms/here").expect(200);

        client.patch("/v5/vms/here", "{\"slug\":\"Bad\"}").expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"idleTimeoutSeconds\":0}").expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"displayName\":\"fine\",\"metadata\":{\"a,b\":\"c\"}}")
                .expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"reassignSlug\":true,\"slug\":\"\"}")
                .expect(400, "BAD_REQUEST");
        client.patch("/v5/vms/here", "{\"slug\":\"other\"}").expect(409, "CONFLICT");

        var after = client.get("/v5/vms/here").expect(200);
        assertEquals(before.string("slug"), after.string("slug"));
        assertEquals(before.string("displayName"), after.string("displayName"));
        assertEquals(before.string("updatedAt"), after.string("updatedAt"));
        client.delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void theWrongStateIsAConflictAndTheTargetStateIsNot() {
        var mine = client.createVm();
        client.post("/v5/vms/%s/start".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/kill".formatted(mine), "{}").expect(200);
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(409, "CONFLICT");
        client.post("/v5/vms/%s/resize".formatted(mine), "{\"storage\":5000}")
                .expect(409, "CONFLICT");
        client.delete("/v5/vms/" + mine).expect(204);
        for (var verb : new String[] {"start", "pause", "stop", "kill", "resize", "exec-await"}) {
            client.post("/v5/vms/%s/%s".formatted(mine, verb), "{\"command\":\"true\",\"cpu\":1}")
                    .expect(404, "NOT_FOUND");
        }
    }

    @Test
    void aSpentRunBudgetRefusesEveryStartAndWakeUntilItIsRaised() {
        var mine = client.createVm("{\"maxRunTotalSeconds\":1," + NO_RULES + "}");
        client.run(mine, "sleep 1.2");
        client.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(200);

        client.post("/v5/vms/%s/start".formatted(mine), "{}").expect(409, "CONFLICT");
        client.post("/v5/vms/%s/exec-await".formatted(mine), Client.exec("true"))
                .expect(409, "CONFLICT");
        assertEquals("paused", client.state(mine));

        client.patch("/v5/vms/" + mine, "{\"maxRunTotalSeconds\":-1}").expect(200);
        assertEquals("on", client.run(mine, "echo on"));
        client.delete("/v5/vms/" + mine).expect(204);
    }

    @Test
    void aResizeOnlyGrowsAndOnlyToItsCeilings() {
        for (var wrong :
                new String[] {
                    "{}",
                    "{\"memory\":64}",
                    "{\"storage\":1}",
                    "{\"cpu\":0}",
                    "{\"cpu\":65}",
                    "{\"memory\":131073}",
                    "{\"storage\":1024001}",
                    "{\"cpu\":\"2\"}"
                }) {
            client.post("/v5/vms/here/resize", wrong).expect(400, "BAD_REQUEST");
        }
        client.post("/v5/vms/here/resize", "{\"cpu\":5}").expect(409, "CONFLICT");
        client.post("/v5/vms/here/resize", "{\"memory\":4096}").expect(409, "CONFLICT");
        client.post("/v5/vms/here/resize", "{\"storage\":1500,\"cpu\":64}").expect(409, "CONFLICT");
        var same =
                client.post("/v5/vms/here/resize", "{\"cpu\":1,\"memory\":128,\"storage\":1000}")
                        .expect(200);
        assertEquals(
                1000,
                same.requiredObject("resources").requiredInteger("storage"),
                "one refused axis refuses the whole call");
    }

    @Test
    void anExecRefusesWrongFields() {
        for (var wrong :
                new String[] {
                    "{}",
                    "{\"command\":\"\"}",
                    "{\"command\":7}",
                    "{\"command\":\"a\\u0000b\"}",
                    "{\"command\":\"true\",\"timeoutMs\":0}",
                    "{\"command\":\"true\",\"timeoutMs\":300001}",
                    "{\"command\":\"true\",\"env\":{\"1A\":\"x\"}}",
                    "{\"command\":\"true\",\"env\":{\"A\":1}}",
                    "{\"command\":\"true\",\"stdin\":\"***\"}",
                    "{\"command\":\"true\",\"linuxUser\":\"nobody-here\"}",
                    "{\"command\":\"true\",\"linuxUser\":\"a b\"}",
                }) {
            client.post("/v5/vms/here/exec-await", wrong).expect(400, "BAD_REQUEST");
        }
        var large = java.util.Base64.getEncoder().encodeToString(new byte[(1 << 20) + 1]);
        client.post(
                        "/v5/vms/here/exec-await",
                        "{\"command\":\"cat\",\"stdin\":\"%s\"}".formatted(large))
                .expect(400, "BAD_REQUEST");
    }

    @Test
    void aListRefusesWrongFilters() {
        for (var wrong :
                new String[] {
                    "state=asleep",
                    "limit=-1",
                    "limit=x",
                    "offset=1.5",
                    "metadata=nocolon",
                    "metadata=a:b,,"
                }) {
            client.get("/v5/vms?" + wrong).expect(400, "BAD_REQUEST");
        }
        client.get("/v5/vms?snapshotId=svc%2Fnothing").expect(404, "NOT_FOUND");
        assertEquals(
                0,
                client.get("/v5/vms?snapshotId=sh-00000000000000000000")
                        .expect(200)
                        .requiredInteger("totalCount"));
    }

    @Test
    void aMachineThatDoesNotComeUpIsRemoved() throws IOException {
        var broken = fakeQemu("echo 'this one is broken' >&2; exit 1");
        try (var other = Installation.start(Map.of("PATH", broken))) {
            var caller = other.client("main");
            var answer = caller.post("/v5/vms", "{" + NO_RULES + "}");
            answer.expect(503, "UNAVAILABLE");
            assertTrue(answer.message().contains("this one is broken"), answer.message());
            assertEquals(0, caller.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        }
        try (var other =
                Installation.start(
                        Map.of(
                                "PATH",
                                fakeQemu("exec sleep 60"),
                                "COPPICE_VM_START_TIMEOUT",
                                "1"))) {
            var caller = other.client("main");
            caller.post("/v5/vms", "{" + NO_RULES + "}").expect(504, "VM_START_TIMEOUT");
            var deadline = Deadline.in(Duration.ofSeconds(20));
            while (caller.get("/v5/vms").expect(200).requiredInteger("totalCount") > 0) {
                assertTrue(!deadline.isPast(), "the VM that did not come up stays");
            }
        }
    }

    @Test
    void aVmThatIsStartingIsNeitherPausedNorStoppedButKilledAndDeleted()
            throws IOException, InterruptedException {
        var hang = installation.data().resolve("hang");
        var path =
                fakeQemu(
                        "[ -e %s ] && exec sleep 60; exec /usr/bin/qemu-system-x86_64 \"$@\""
                                .formatted(hang));
        try (var other = Installation.start(Map.of("PATH", path))) {
            var caller = other.client("main");
            var mine = caller.createVm();
            caller.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
            Files.createFile(hang);

            var start =
                    inBackground(
                            () ->
                                    caller.post("/v5/vms/%s/start".formatted(mine), "{}")
                                            .expect(503, "UNAVAILABLE"));
            awaitState(caller, "starting");
            caller.post("/v5/vms/%s/pause".formatted(mine), "{}").expect(409, "CONFLICT");
            caller.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(409, "CONFLICT");
            assertEquals(
                    "stopped",
                    caller.post("/v5/vms/%s/kill".formatted(mine), "{}")
                            .expect(200)
                            .requiredString("state"));
            start.join();

            var create =
                    inBackground(
                            () ->
                                    caller.post("/v5/vms", "{" + NO_RULES + "}")
                                            .expect(503, "UNAVAILABLE"));
            var made = awaitState(caller, "starting");
            caller.delete("/v5/vms/" + made).expect(204);
            create.join();
            Files.delete(hang);

            caller.post("/v5/vms/%s/start".formatted(mine), "{}").expect(200);
            assertEquals(1, caller.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        }
    }

    /// A directory for PATH with a QEMU of our own, which tells the version of the real one.
    private String fakeQemu(String script) throws IOException {
        var bin = Files.createTempDirectory(installation.data(), "bin");
        var fake = bin.resolve("qemu-system-x86_64");
        Files.writeString(
                fake,
                "#!/bin/sh\n[ \"$1\" = --version ] && exec /usr/bin/qemu-system-x86_64 --version\n"
                        + script
                        + "\n");
        Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwxr-xr-x"));
        return bin + ":" + System.getenv("PATH");
    }

    private static Thread inBackground(Runnable call) {
        return Thread.startVirtualThread(call);
    }

    /// Waits for a VM in this state, and returns its id.
    private static String awaitState(Client caller, String state) {
        var deadline = Deadline.in(Duration.ofSeconds(30));
        while (!deadline.isPast()) {
            var found = caller.get("/v5/vms?state=" + state).expect(200).requiredObjects("vms");
            if (!found.isEmpty()) {
                return found.getFirst().requiredString("id");
            }
        }
        throw new AssertionError("no VM is ever " + state);
    }

    @Test
    void theAccountsLimitsAreToldWithTheirNumbers() {
        try (var limited =
                Installation.start(
                        Map.of("COPPICE_VM_MAX_RUNNING", "1", "COPPICE_VM_MAX_TOTAL", "2"))) {
            var caller = limited.client("main");
            var first = caller.createVm();
            var refused = caller.post("/v5/vms", "{" + NO_RULES + "}");
            refused.expect(403, "VM_LIMIT_EXCEEDED");
            assertEquals(1, refused.body().requiredInteger("limit"));
            assertEquals(1, refused.body().requiredInteger("current"));

            caller.post("/v5/vms/%s/stop".formatted(first), "{}").expect(200);
            var second = caller.createVm();
            caller.post("/v5/vms/%s/start".formatted(first), "{}").expect(403, "VM_LIMIT_EXCEEDED");
            caller.post("/v5/vms/%s/stop".formatted(second), "{}").expect(200);
            var total = caller.post("/v5/vms", "{" + NO_RULES + "}");
            total.expect(403, "TOTAL_VM_LIMIT_EXCEEDED");
            assertEquals(2, total.body().requiredInteger("limit"));
        }
    }
}
