package coppice.api.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.process.ProcessId;
import coppice.qemu.Exit;
import coppice.qemu.MachineEnded;
import coppice.vm.VmState;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LegacyFailuresTest {
    private static final Instant THEN = Instant.EPOCH;
    private static final VmState.Running RUNNING =
            new VmState.Running(THEN, UUID.randomUUID(), new ProcessId(1, 1));
    private static final VmState PAUSING = new VmState.Pausing(THEN, RUNNING, UUID.randomUUID());
    private static final VmState PAUSED = new VmState.Paused(THEN, UUID.randomUUID());
    private static final VmState.Stopped STOPPED = new VmState.Stopped(THEN, Optional.empty());
    private static final VmState STARTING = new VmState.Starting(THEN, STOPPED);

    @Test
    void aConflictOfASnapshotIsNamedAfterTheStateThatWasInTheWay() {
        assertTaking(Code.VM_IS_SUSPENDING, Code.CONFLICT, PAUSING, PAUSED);
        assertTaking(Code.VM_IS_SUSPENDING, Code.CONFLICT, RUNNING, PAUSING);
        assertTaking(Code.SNAPSHOT_VM_BAD_REQUEST, Code.CONFLICT, STOPPED, STOPPED);
        assertTaking(Code.SNAPSHOT_VM_BAD_REQUEST, Code.CONFLICT, STARTING, RUNNING);
        assertTaking(Code.SNAPSHOT_VM_BAD_REQUEST, Code.CONFLICT, RUNNING, STOPPED);
        assertTaking(Code.CONFLICT, Code.CONFLICT, RUNNING, RUNNING); // a full disk
        assertTaking(Code.SNAPSHOT_VM_BAD_REQUEST, Code.BAD_REQUEST, RUNNING, RUNNING);
        assertTaking(Code.VM_NOT_FOUND, Code.NOT_FOUND, RUNNING);
        assertTaking(Code.UNAVAILABLE, Code.UNAVAILABLE, RUNNING, RUNNING);
    }

    private static void assertTaking(Code expected, Code core, VmState... seen) {
        var failure = LegacyFailures.taking(failure(core), "web", List.of(seen));
        assertEquals(expected, failure.code());
        assertEquals("why", failure.getMessage());
        assertEquals(
                expected == Code.VM_NOT_FOUND ? Map.of("vmId", "web") : Map.of(),
                failure.details());
    }

    @Test
    void theNumbersOfALimitAreKept() {
        var limit =
                new Failure(Code.SNAPSHOT_LIMIT_EXCEEDED, "why", Map.of("limit", 1, "current", 1));
        assertSame(limit, LegacyFailures.taking(limit, "web", List.of(RUNNING)));
    }

    @Test
    void aSuspendOfTheWrongStateOrThatLosesTheVmHasItsOwnWords() {
        assertSuspending(Code.VM_NOT_RUNNING, Code.CONFLICT, STOPPED, STOPPED);
        assertSuspending(Code.VM_NOT_RUNNING, Code.CONFLICT, STARTING, RUNNING);
        assertSuspending(Code.CONFLICT, Code.CONFLICT, RUNNING, RUNNING); // a full disk
        assertSuspending(Code.SUSPEND_FAILED_AND_STOPPED, Code.UNAVAILABLE, RUNNING, STOPPED);
        assertSuspending(Code.UNAVAILABLE, Code.UNAVAILABLE, RUNNING, RUNNING);
        assertSuspending(Code.VM_NOT_FOUND, Code.NOT_FOUND, RUNNING);
    }

    private static void assertSuspending(Code expected, Code core, VmState... seen) {
        assertEquals(
                expected, LegacyFailures.suspending(failure(core), "web", List.of(seen)).code());
    }

    @Test
    void aStopOfTheWrongStateIsNamedAfterIt() {
        assertStopping(Code.VM_IS_SUSPENDING, Code.CONFLICT, PAUSING, PAUSED);
        assertStopping(Code.VM_IS_SUSPENDING, Code.CONFLICT, RUNNING, PAUSING);
        assertStopping(Code.VM_NOT_RUNNING, Code.CONFLICT, STARTING, STARTING);
        assertStopping(Code.VM_NOT_RUNNING, Code.CONFLICT, STARTING, RUNNING);
        assertStopping(Code.VM_NOT_FOUND, Code.NOT_FOUND, RUNNING);
        assertStopping(Code.UNAVAILABLE, Code.UNAVAILABLE, RUNNING, RUNNING);
    }

    private static void assertStopping(Code expected, Code core, VmState... seen) {
        assertEquals(expected, LegacyFailures.stopping(failure(core), "web", List.of(seen)).code());
    }

    @Test
    void aResizeThatIsBegunAndFailsHasItsOwnWord() {
        for (var code : List.of(Code.BAD_REQUEST, Code.CONFLICT, Code.VM_START_TIMEOUT)) {
            assertEquals(code, LegacyFailures.resizing(failure(code), "web").code());
        }
        assertEquals(
                Code.RESIZE_FAILED,
                LegacyFailures.resizing(failure(Code.UNAVAILABLE), "web").code());
        assertEquals(
                Map.of("vmId", "web"),
                LegacyFailures.resizing(failure(Code.NOT_FOUND), "web").details());
    }

    @Test
    void aStartWhoseMachineEndsSaysHow() {
        assertStarting(Code.VM_EXIT_DURING_START, Code.UNAVAILABLE, Exit.CRASHED);
        assertStarting(Code.VM_EXIT_DURING_START, Code.UNAVAILABLE, Exit.POWER_OFF);
        assertStarting(Code.KERNEL_PANIC, Code.UNAVAILABLE, Exit.PANIC);
        assertStarting(Code.VM_START_TIMEOUT, Code.VM_START_TIMEOUT, Exit.CRASHED);
        assertEquals(
                Code.UNAVAILABLE,
                LegacyFailures.starting(failure(Code.UNAVAILABLE), "web", List.of(STOPPED)).code());
    }

    private static void assertStarting(Code expected, Code core, Exit how) {
        var deep =
                new Failure(core, "the QEMU ended", new MachineEnded(how, new IOException("gone")));
        var failure = new Failure(core, "why", deep);
        assertEquals(expected, LegacyFailures.starting(failure, "web", List.of(STOPPED)).code());
    }

    @Test
    void aForkDuringAPauseIsNamedSoAndOtherConflictsStay() {
        assertEquals(
                Code.VM_IS_SUSPENDING,
                LegacyFailures.forking(failure(Code.CONFLICT), "web", List.of(PAUSING, PAUSED))
                        .code());
        assertEquals(
                Code.CONFLICT,
                LegacyFailures.forking(failure(Code.CONFLICT), "web", List.of(RUNNING, RUNNING))
                        .code());
        assertEquals(
                Code.VM_START_TIMEOUT,
                LegacyFailures.forking(
                                failure(Code.VM_START_TIMEOUT), "web", List.of(RUNNING, RUNNING))
                        .code());
        assertEquals(
                Map.of("vmId", "web"),
                LegacyFailures.forking(failure(Code.NOT_FOUND), "web", List.of(RUNNING)).details());
    }

    @Test
    void theCauseOfAFailureIsTheOneThatTheCoreGave() {
        var core = failure(Code.NOT_FOUND);
        assertSame(core, LegacyFailures.naming(core, "web").getCause());
    }

    private static Failure failure(Code code) {
        return new Failure(code, "why");
    }
}
