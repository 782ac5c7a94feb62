package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.qemu.MachineShape;
import java.util.Optional;

/// A request to give a VM more. Every axis only grows; an equal value changes nothing.
public record Growth(Optional<Integer> cpu, Optional<Size> memory, Optional<Size> storage) {
    public static final int MAX_CPU = 64;
    public static final Size MAX_MEMORY = Size.ofMib(131072);
    public static final Size MAX_STORAGE = Size.ofMib(1024000);

    /// The resources after the growth, or why they cannot be had at all.
    Resources applyTo(Resources now) {
        if (cpu.isEmpty() && memory.isEmpty() && storage.isEmpty()) {
            throw new Failure(
                    Code.BAD_REQUEST, "cpu, memory or storage is required; send at least one");
        }
        return new Resources(
                grown("cpu", now.cpu(), cpu, MAX_CPU, "%d"),
                grown("memory", now.memory(), memory, MAX_MEMORY, "%s"),
                grown("storage", now.storage(), storage, MAX_STORAGE, "%s"));
    }

    private static <T extends Comparable<T>> T grown(
            String field, T now, Optional<T> wanted, T most, String form) {
        var value = wanted.orElse(now);
        if (value.compareTo(now) < 0) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    ("%s: can only grow, and is " + form + " now").formatted(field, now));
        }
        if (value.compareTo(now) > 0 && value.compareTo(most) > 0) {
            throw new Failure(
                    Code.BAD_REQUEST, ("%s: can be at most " + form).formatted(field, most));
        }
        return value;
    }

    /// The memory module that brings a machine to at least `total`, when it lacks some. Modules have whole sections only.
    static Optional<Size> missingModule(MachineShape shape, Size total) {
        long missing = total.bytes() - shape.totalMemory().bytes();
        long section = MachineShape.MEMORY_MODULE.bytes();
        return missing <= 0
                ? Optional.empty()
                : Optional.of(new Size((missing + section - 1) / section * section));
    }

    /// How much memory a machine has after it was given at least `total`.
    static Size memoryAfter(MachineShape shape, Size total) {
        return missingModule(shape, total)
                .map(shape.totalMemory()::plus)
                .orElse(shape.totalMemory());
    }

    /// Refuses another size of a disk that no guest is there to make use of.
    static void requireSameStorage(Vm vm, Resources wanted) {
        if (!wanted.storage().equals(vm.hardware().resources().storage())) {
            throw new Failure(
                    Code.CONFLICT,
                    "storage: the disk of %s can only grow while the VM runs; start it first"
                            .formatted(vm.id()));
        }
    }

    /// Refuses what a machine cannot get without a new boot.
    static void requireRoom(MachineShape shape, Resources wanted) {
        if (wanted.cpu() > shape.maxCpus()) {
            throw new Failure(
                    Code.CONFLICT,
                    "cpu: this VM can grow to %d while it runs; stop it, resize it and start it for more"
                            .formatted(shape.maxCpus()));
        }
        var module = missingModule(shape, wanted.memory());
        if (module.isPresent()
                && (shape.addedMemory().size() >= MachineShape.MEMORY_SLOTS
                        || shape.totalMemory().plus(module.get()).compareTo(shape.maxMemory())
                                > 0)) {
            throw new Failure(
                    Code.CONFLICT,
                    "memory: this VM can grow to %s in %d steps while it runs; stop it, resize it and start it for more"
                            .formatted(shape.maxMemory(), MachineShape.MEMORY_SLOTS));
        }
    }
}
