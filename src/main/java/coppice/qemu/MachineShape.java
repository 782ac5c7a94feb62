package coppice.qemu;

import coppice.base.Size;
import java.util.List;

/// What a machine consists of, as far as its device state depends on it. A captured machine is restored with the very shape it was
/// captured with.
///
/// @param cpus processors present at boot
/// @param addedCpus processors added since
/// @param maxCpus how many there can be without a new boot
/// @param memory memory present at boot
/// @param addedMemory memory modules added since, in order
/// @param maxMemory how much there can be without a new boot
public record MachineShape(
        int cpus, int addedCpus, int maxCpus, Size memory, List<Size> addedMemory, Size maxMemory) {
    /// Linux adds memory in whole sections of this size on x86-64.
    public static final Size MEMORY_MODULE = Size.ofMib(128);

    /// How many modules can be added without a new boot.
    public static final int MEMORY_SLOTS = 16;

    public MachineShape {
        addedMemory = List.copyOf(addedMemory);
        if (cpus < 1 || addedCpus < 0 || cpus + addedCpus > maxCpus) {
            throw new IllegalArgumentException(
                    "processors: %d + %d of %d".formatted(cpus, addedCpus, maxCpus));
        }
    }

    /// A machine as it is first switched on.
    public static MachineShape fresh(int cpus, int maxCpus, Size memory, Size maxMemory) {
        return new MachineShape(
                cpus,
                0,
                Math.max(cpus, maxCpus),
                memory,
                List.of(),
                maxMemory.compareTo(memory) < 0 ? memory : maxMemory);
    }

    public int totalCpus() {
        return cpus + addedCpus;
    }

    public Size totalMemory() {
        return addedMemory.stream().reduce(memory, Size::plus);
    }

    /// Where the bytes of module `index` stand in a memory image: behind the boot memory and the modules before it.
    public Size offsetOfModule(int index) {
        return addedMemory.subList(0, index).stream().reduce(memory, Size::plus);
    }

    public MachineShape withCpus(int total) {
        return new MachineShape(cpus, total - cpus, maxCpus, memory, addedMemory, maxMemory);
    }

    public MachineShape withModule(Size module) {
        var modules = new java.util.ArrayList<>(addedMemory);
        modules.add(module);
        return new MachineShape(cpus, addedCpus, maxCpus, memory, modules, maxMemory);
    }
}
