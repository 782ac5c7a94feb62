package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.ApiCaller;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.api.WakeRefusals;
import coppice.vm.GivenVms;
import coppice.vm.GuestFileAccess;
import coppice.vm.Snapshot;
import coppice.vm.Terminals;
import coppice.vm.VmId;
import coppice.vm.VmLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the legacy family refuses without a machine: rows of the error tables of contract/vms.md, vm-filesystem.md, vm-pty.md and
/// vm-systemd.md. That each answer has the family's shape, [ApiCaller] says.
class LegacyRefusalsTest extends WakeRefusals {
    private static final List<String> WAKING =
            List.of(
                    "POST start {}",
                    "POST exec-await {\"command\":\"true\"}",
                    "GET files/%2Fx",
                    "PUT files/%2Fx {\"content\":\"\"}",
                    "POST watch-files",
                    "GET systemd/services",
                    "POST systemd/services {\"name\":\"x\",\"mode\":\"service\",\"exec\":[\"true\"]}",
                    "DELETE systemd/services/x",
                    "GET systemd/services/x/status",
                    "GET systemd/services/x/logs",
                    "POST systemd/start {\"services\":[{\"id\":\"x\"}]}",
                    "POST systemd/stop {\"services\":[{\"id\":\"x\"}]}",
                    "POST systemd/restart {\"services\":[{\"id\":\"x\"}]}");

    LegacyRefusalsTest() {
        super("/v1/vms");
    }

    @Override
    protected List<Route> routes(VmLimits limits) {
        var vms = given.vms();
        var files = new GuestFileAccess(vms, limits.start());
        return Stream.of(
                        new LegacyVmRoutes(vms, "acme", VmRights.NONE).routes(),
                        new LegacyFileRoutes(vms, files, "acme", VmRights.NONE).routes(),
                        new LegacyTerminalRoutes(vms, new Terminals(vms), "acme", VmRights.NONE)
                                .routes())
                .flatMap(List::stream)
                .toList();
    }

    @Override
    protected List<String> waking() {
        return WAKING;
    }

    @Test
    void everyCallToAVmThatIsAbsentNamesItAsItWasNamed() {
        open(GivenVms.LIMITS);
        int calls = 0;
        var never = VmId.random().text();
        for (var route : routes(GivenVms.LIMITS)) {
            var path = route.path().toString();
            if (!path.contains("{vm_id}")) {
                continue;
            }
            for (var name : List.of(never, never.substring(3), "nothing")) {
                var address = path.replace("{vm_id}", name).replaceAll("\\{[a-z_]+}", "x");
                var refused =
                        ada.send(route.method().name(), address, "").expect(404, "VM_NOT_FOUND");
                assertEquals(name, refused.requiredString("vmId"), address);
                calls++;
            }
        }
        assertTrue(calls >= 3 * 26, "only %d calls".formatted(calls));
    }

    @Test
    void aStartThatIsRefusedLeavesTheSettingsAsTheyWere() {
        open(GivenVms.LIMITS);
        var id = given.stopped().id().text();
        var before = given.vms().get(given.ada(), id).settings();
        ada.post(vm() + "start", "{\"idleTimeoutSeconds\":7,\"activityThresholdBytes\":7}")
                .expect(409, "CONFLICT");
        assertEquals(before, given.vms().get(given.ada(), id).settings());
    }

    @Test
    void whoWaitsForLessThanAStartTakesIsToldSo() {
        open(GivenVms.LIMITS);
        var wait = "{\"readySignalTimeoutSeconds\":1}";
        try (var _ = given.keepBusy()) {
            ada.post(vm() + "fork", wait).expect(504, "VM_START_TIMEOUT");
        }
    }

    @Override
    protected ApiCaller.Answer create(String more) {
        return ada.post("/v1/vms", "{%s\"snapshotId\":\"%s\"}".formatted(more, snapshot()));
    }

    @Test
    void aCreateRefusesSizesBelowThoseOfItsSnapshot() {
        open(GivenVms.LIMITS);
        Snapshot large;
        do {
            large = given.snapshot(given.ada(), Snapshot.Settings.NONE);
        } while (large.resources().orElseThrow().cpu() == 1);
        for (var place : List.of("\"vcpuCount\":1", "\"template\":{\"vcpuCount\":1}")) {
            var body = "{%s,\"snapshotId\":\"%s\"}".formatted(place, large.id().text());
            ada.post("/v1/vms", body).expect(400, "CREATE_VM_BAD_REQUEST");
        }
    }

    @Test
    void theDiskOfAVmThatDoesNotRunDoesNotGrow() {
        open(GivenVms.LIMITS);
        ada.post(vm() + "resize", "{\"rootfsSizeGb\":2}").expect(409, "CONFLICT");
        ada.post(vm() + "resize", "{\"sizeMb\":1001}").expect(409, "CONFLICT");
        ada.post(vm() + "resize", "{\"sizeMb\":999}").expect(400, "BAD_REQUEST");
        ada.post(vm() + "resize", "{\"rootfsSizeGb\":1}").expect(200);
    }

    @Test
    void aVmThatWasDeletedMoreThanADayAgoIsAbsent() {
        open(GivenVms.LIMITS);
        var id = given.stopped().id().text();
        ada.delete("/v1/vms/" + id).expect(200);
        var start = "/v1/vms/%s/start".formatted(id);
        time = time.plus(Duration.ofHours(23));
        if (given.stopped().legacy().recipe().isEmpty()) {
            ada.post(start, "{}").expect(410, "VM_DELETED");
        }
        time = time.plus(Duration.ofHours(2));
        ada.post(start, "{}").expect(404, "VM_NOT_FOUND");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"command\":\"\"}",
                "{\"command\":\"a\\u0000b\"}",
                "{\"command\":\"true\",\"timeoutMs\":0}",
                "{\"command\":\"true\",\"timeoutMs\":300001}",
                "{\"command\":\"true\",\"terminal\":\"A B\"}",
                "{\"command\":\"true\",\"terminal\":\"1\"}"
            })
    void anExecRefusesWrongFields(String body) {
        open(GivenVms.LIMITS);
        ada.post(vm() + "exec-await", body).expect(400, "BAD_REQUEST");
    }

    @Test
    void aTerminalThatIsAbsentIsNotFound() {
        open(GivenVms.LIMITS);
        for (var name : List.of("none", "1", "No_Name")) {
            for (var view : List.of("logs", "xterm-256color")) {
                ada.get(vm() + "terminals/%s/%s".formatted(name, view)).expect(404, "NOT_FOUND");
            }
        }
        assertEquals(
                List.of(), ada.get(vm() + "terminals").expect(200).requiredObjects("terminals"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"name\":\"\" | SERVICE_NAME_EMPTY",
                "\"name\":null | SERVICE_NAME_EMPTY",
                "\"name\":\"LONG\" | SERVICE_NAME_TOO_LONG",
                "\"name\":\".x\" | SERVICE_NAME_INVALID_PREFIX",
                "\"name\":\"-x\" | SERVICE_NAME_INVALID_PREFIX",
                "\"name\":\"a/b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a\\u0000b\" | SERVICE_NAME_INVALID_CHARS",
                "\"name\":\"a b\" | SERVICE_NAME_INVALID_CHARS",
                "\"exec\":[] | EXEC_EMPTY",
                "\"exec\":[\"true\",\"\"] | EXEC_EMPTY",
                "\"env\":{\"\":\"x\"} | ENV_KEY_EMPTY",
                "\"env\":{\"A=B\":\"x\"} | ENV_KEY_CONTAINS_EQUALS",
                "\"user\":\"\" | USER_EMPTY",
                "\"group\":\"\" | GROUP_EMPTY",
                "\"workdir\":\"\" | WORKDIR_EMPTY",
                "\"wantedBy\":[] | WANTED_BY_EMPTY",
                "\"after\":[\"\"] | AFTER_ARRAY_CONTAINS_EMPTY",
                "\"requires\":[\"\"] | REQUIRES_ARRAY_CONTAINS_EMPTY",
                "\"onFailure\":[\"\"] | ON_FAILURE_ARRAY_CONTAINS_EMPTY",
                "\"mode\":\"daemon\" | VALIDATION_ERROR",
                "\"exec\":[\"a\\nb\"] | VALIDATION_ERROR",
                "\"env\":{\"A\":\"a\\nb\"} | VALIDATION_ERROR",
                "\"user\":\"a\\nb\" | VALIDATION_ERROR",
                "\"timeoutSec\":-1 | VALIDATION_ERROR",
                "\"restartPolicy\":{} | VALIDATION_ERROR"
            })
    void aServiceIsRefusedByTheNameOfItsFault(String field, String code) {
        open(GivenVms.LIMITS);
        var usual = "\"name\":\"web\",\"mode\":\"service\",\"exec\":[\"true\"]";
        var name = field.substring(0, field.indexOf(':'));
        var rest = usual.replaceAll(name + ":(\"\\w+\"|\\[\"true\"]),?", "").replaceAll(",$", "");
        var service = "{%s,%s}".formatted(rest, field.replace("LONG", "x".repeat(129)));
        ada.post(vm() + "systemd/services", service).expect(400, code);
    }
}
