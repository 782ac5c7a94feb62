package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.qemu.Exit;
import coppice.qemu.MachineEnded;
import coppice.vm.Vm;
import coppice.vm.VmState;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// What the core's failures are called in the legacy family. Each operation has its own words; what is not among them keeps its name.
///
/// The core says `CONFLICT` for every wrong state. Which one it was is read off the states that were seen before and after.
final class LegacyFailures {
    private LegacyFailures() {}

    /// Of looking up the VM that a path names.
    static Failure naming(Failure failure, String vm) {
        return failure.code() == Code.NOT_FOUND
                ? failure.as(Code.VM_NOT_FOUND, Map.of("vmId", vm))
                : failure;
    }

    static Failure taking(Failure failure, String vm, List<VmState> seen) {
        return switch (failure.code()) {
            case BAD_REQUEST -> failure.as(Code.SNAPSHOT_VM_BAD_REQUEST, Map.of());
            case CONFLICT ->
                    isPausing(seen)
                            ? failure.as(Code.VM_IS_SUSPENDING, Map.of())
                            : wrongState(failure, Code.SNAPSHOT_VM_BAD_REQUEST, seen);
            default -> naming(failure, vm);
        };
    }

    static Failure suspending(Failure failure, String vm, List<VmState> seen) {
        return switch (failure.code()) {
            case CONFLICT -> wrongState(failure, Code.VM_NOT_RUNNING, seen);
            case UNAVAILABLE ->
                    seen.getLast() instanceof VmState.Stopped
                            ? failure.as(Code.SUSPEND_FAILED_AND_STOPPED, Map.of())
                            : failure;
            default -> naming(failure, vm);
        };
    }

    static Failure starting(Failure failure, String vm, List<VmState> seen) {
        return ended(failure)
                .map(
                        end ->
                                failure.as(
                                        end.how() == Exit.PANIC
                                                ? Code.KERNEL_PANIC
                                                : Code.VM_EXIT_DURING_START,
                                        Map.of()))
                .orElseGet(() -> forking(failure, vm, seen));
    }

    private static Optional<MachineEnded> ended(Failure failure) {
        return Stream.<Throwable>iterate(failure, Objects::nonNull, Throwable::getCause)
                .filter(_ -> failure.code() == Code.UNAVAILABLE)
                .filter(MachineEnded.class::isInstance)
                .map(MachineEnded.class::cast)
                .findFirst();
    }

    static Failure pausing(Vm vm) {
        return new Failure(
                Code.CONFLICT,
                "%s is being suspended; start it when that is done".formatted(vm.id()));
    }

    static Failure stopping(Failure failure, String vm, List<VmState> seen) {
        return switch (failure.code()) {
            case CONFLICT ->
                    isPausing(seen)
                            ? failure.as(Code.VM_IS_SUSPENDING, Map.of())
                            : wrongState(failure, Code.VM_NOT_RUNNING, seen);
            default -> naming(failure, vm);
        };
    }

    static Failure resizing(Failure failure, String vm) {
        return failure.code() == Code.UNAVAILABLE
                ? failure.as(Code.RESIZE_FAILED, Map.of())
                : naming(failure, vm);
    }

    /// @param snapshot what it was to be made from; absent: the default
    static Failure creating(Failure failure, Optional<String> snapshot) {
        return switch (failure.code()) {
            case BAD_REQUEST -> failure.as(Code.CREATE_VM_BAD_REQUEST, Map.of());
            case NOT_FOUND ->
                    snapshot.map(name -> updating(failure, name))
                            .orElseGet(
                                    () -> failure.as(Code.NO_DEFAULT_SNAPSHOT_AVAILABLE, Map.of()));
            default -> failure;
        };
    }

    /// Of doing something inside a VM, or to its services.
    static Failure serving(Failure failure, String vm) {
        return failure.code() == Code.BAD_REQUEST
                ? failure.as(Code.VALIDATION_ERROR, Map.of())
                : naming(failure, vm);
    }

    /// Of using the files of a VM.
    static Failure filing(Failure failure, String vm) {
        return switch (failure.code()) {
            case BAD_REQUEST, PAYLOAD_TOO_LARGE -> failure.as(Code.FILES_BAD_REQUEST, Map.of());
            default -> naming(failure, vm);
        };
    }

    /// Of looking for a file at the path that a caller named.
    static Failure looking(Failure failure, String path) {
        return failure.code() == Code.FILE_NOT_FOUND
                ? failure.as(Code.FILE_NOT_FOUND, Map.of("path", path))
                : failure;
    }

    static Failure forking(Failure failure, String vm, List<VmState> seen) {
        return failure.code() == Code.CONFLICT && isPausing(seen)
                ? failure.as(Code.VM_IS_SUSPENDING, Map.of())
                : naming(failure, vm);
    }

    static Failure updating(Failure failure, String snapshot) {
        return failure.code() == Code.NOT_FOUND
                ? failure.as(Code.SNAPSHOT_NOT_FOUND, Map.of("snapshotId", snapshot))
                : failure;
    }

    /// @param isDeleted whether the snapshot was deleted a short while ago
    static Failure deleting(Failure failure, String snapshot, boolean isDeleted) {
        var named = Map.<String, Object>of("snapshotId", snapshot);
        return switch (failure.code()) {
            case CONFLICT -> failure.as(Code.SNAPSHOT_IS_ACCOUNT_DEFAULT, named);
            case NOT_FOUND ->
                    failure.as(
                            isDeleted ? Code.SNAPSHOT_ALREADY_DELETED : Code.SNAPSHOT_NOT_FOUND,
                            named);
            default -> failure;
        };
    }

    static Failure building(Failure failure, String snapshot) {
        return failure.code() == Code.BAD_REQUEST
                ? failure.as(Code.CREATE_SNAPSHOT_BAD_REQUEST, Map.of())
                : updating(failure, snapshot);
    }

    /// A conflict of a VM that runs or is paused is about something else, such as room on the disk.
    private static Failure wrongState(Failure failure, Code code, List<VmState> seen) {
        boolean fits =
                seen.stream()
                        .allMatch(
                                state ->
                                        state instanceof VmState.Running
                                                || state instanceof VmState.Paused);
        return fits ? failure : failure.as(code, Map.of());
    }

    private static boolean isPausing(List<VmState> seen) {
        return seen.stream().anyMatch(VmState.Pausing.class::isInstance);
    }
}
