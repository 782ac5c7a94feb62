package coppice.qemu;

import coppice.base.Size;
import java.util.List;

/// What a machine consists of, as far as its device state depends on it. A captured machine is restored with the very shape it was
/// captured with.
///
/// @param cpus processors that the guest has online
/// @param maxCpus processors that the machine has; the guest's agent brings more of them online when the VM grows
/// @param memory memory present at boot
/// @param addedMemory memory modules added since, in order
/// @param maxMemory how much there can be without a new boot
/// @param hasNic whether it has a network interface; machines of older captures have none until their next boot
public record MachineShape(
        int cpus,
        int maxCpus,
        Size memory,
        List<Size> addedMemory,
        Size maxMemory,
        boolean hasNic) {
    /// Linux adds memory in whole sections of this size on x86-64.
    public static final Size MEMORY_MODULE = Size.ofMib(128);

    /// How many modules can be added without a new boot.
    public static final int MEMORY_SLOTS = 16;

    public MachineShape {
        addedMemory = List.copyOf(addedMemory);
        if (cpus < 1 || cpus > maxCpus) {
            throw new IllegalArgumentException("processors: %d of %d".formatted(cpus, maxCpus));
        }
        var all = addedMemory.stream().reduce(memory, Size::plus);
        if (memory.bytes() == 0
                || addedMemory.size() > MEMORY_SLOTS
                || all.compareTo(maxMemory) > 0) {
            throw new IllegalArgumentException(
                    "memory: %s + %s of %s".formatted(memory, addedMemory, maxMemory));
        }
    }

    /// A machine as it is first switched on.
    public static MachineShape fresh(int cpus, int maxCpus, Size memory, Size maxMemory) {
        return new MachineShape(
                cpus,
                Math.max(cpus, maxCpus),
                memory,
                List.of(),
                maxMemory.compareTo(memory) < 0 ? memory : maxMemory,
                true);
    }

    public Size totalMemory() {
        return addedMemory.stream().reduce(memory, Size::plus);
    }

    /// Where the bytes of module `index` stand in a memory image: behind the boot memory and the modules before it.
    public Size offsetOfModule(int index) {
        return addedMemory.subList(0, index).stream().reduce(memory, Size::plus);
    }

    public MachineShape withCpus(int total) {
        return new MachineShape(total, maxCpus, memory, addedMemory, maxMemory, hasNic);
    }

    public MachineShape withModule(Size module) {
        var modules = new java.util.ArrayList<>(addedMemory);
        modules.add(module);
        return new MachineShape(cpus, maxCpus, memory, modules, maxMemory, hasNic);
    }
}
