package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import coppice.vm.GivenVms;
import coppice.vm.Snapshot;
import coppice.vm.VmLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a VM that rests is not woken for, and what there is no room or no limit left for: the same in each family of routes, each in its
/// own words.
public abstract class WakeRefusals {
    protected GivenVms given;
    protected ApiCaller ada;
    protected Instant time = Instant.parse("2026-03-01T09:30:00Z");

    @TempDir private Path directory;
    private final String vms;

    /// @param vms the path of all VMs
    protected WakeRefusals(String vms) {
        this.vms = vms;
    }

    protected abstract List<Route> routes(VmLimits limits);

    /// All that wakes a VM: method, path below the VM's, and body if there is one. WEBSOCKET is a GET that asks for one.
    protected abstract List<String> waking();

    /// With more fields, each with a comma behind it.
    protected abstract ApiCaller.Answer create(String more);

    protected final String vm() {
        return vms + "/stopped/";
    }

    protected final void open(VmLimits limits) {
        given = new GivenVms(directory, limits, () -> time);
        ada = new ApiCaller(routes(limits), given.ada().uuid());
    }

    @AfterEach
    void close() {
        given.close();
    }

    protected final String snapshot() {
        return given.snapshot(given.ada(), Snapshot.Settings.NONE).id().text();
    }

    private ApiCaller.Answer call(String call) {
        var parts = (call + " ").split(" ", 3);
        return parts[0].equals("WEBSOCKET")
                ? ada.upgrade(vm() + parts[1])
                : ada.send(parts[0], vm() + parts[1], parts[2].strip());
    }

    private void assertNothingWakes(int status, String code, String words) {
        for (var call : waking()) {
            var answer = call(call);
            assertEquals(status, answer.status(), () -> call + ": " + answer.text());
            assertTrue(
                    answer.expect(status, code).requiredString("message").contains(words),
                    () -> call + ": " + answer.text());
        }
    }

    @Test
    void aVmThatThereIsNoRoomForIsNotWoken() {
        open(GivenVms.LIMITS);
        assertNothingWakes(409, "CONFLICT", "no capacity");
    }

    @Test
    void aVmThatHasSpentItsBudgetIsNotWoken() {
        open(GivenVms.LIMITS);
        given.spendBudget();
        assertNothingWakes(409, "CONFLICT", "maxRunTotalSeconds");
    }

    @Test
    void aVmBeyondTheLimitOfItsAccountIsNotWoken() {
        open(GivenVms.limits(Optional.of(0), Optional.empty()));
        assertNothingWakes(403, "VM_LIMIT_EXCEEDED", "0 running VMs");
    }

    @Test
    void aVmThatIsNotWokenInTimeIsToldAsThat() {
        open(GivenVms.startingWithin(Duration.ofMillis(50)));
        try (var _ = given.keepBusy()) {
            assertNothingWakes(504, "VM_START_TIMEOUT", "in time");
            ada.post(vm() + "fork", "{}").expect(504, "VM_START_TIMEOUT");
        }
    }

    @Test
    void theLimitOfRunningVmsIsToldWithItsNumbers() {
        open(GivenVms.limits(Optional.of(0), Optional.of(9)));
        assertLimited("VM_LIMIT_EXCEEDED", 0);
        assertNumbers(0, ada.post(vm() + "start", "{}").expect(403, "VM_LIMIT_EXCEEDED"));
    }

    @Test
    void theLimitOfAllVmsIsToldWithItsNumbers() {
        open(GivenVms.limits(Optional.of(9), Optional.of(1)));
        assertLimited("TOTAL_VM_LIMIT_EXCEEDED", 1);
    }

    /// Of creates and forks. There are as many as there may be.
    private void assertLimited(String code, int number) {
        for (var refused : List.of(create(""), ada.post(vm() + "fork", "{}"))) {
            assertNumbers(number, refused.expect(403, code));
        }
    }

    private static void assertNumbers(int number, JsonObject refused) {
        assertEquals(number, refused.requiredInteger("limit"));
        assertEquals(number, refused.requiredInteger("current"));
    }

    @Test
    void aCreateOrForkThatThereIsNoRoomForIsAConflict() {
        open(GivenVms.LIMITS);
        for (var refused : List.of(create(""), ada.post(vm() + "fork", "{\"count\":10}"))) {
            var message = refused.expect(409, "CONFLICT").requiredString("message");
            assertTrue(message.contains("no capacity"), message);
        }
    }
}
