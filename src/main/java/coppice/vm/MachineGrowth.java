package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Size;
import coppice.qemu.MachineShape;
import coppice.qemu.QemuLauncher;

/// How a running machine gets more of what it is made of. For one VM its loop calls it one call at a time.
final class MachineGrowth {
    private final VmFiles files;
    private final QemuLauncher launcher;

    MachineGrowth(VmFiles files, QemuLauncher launcher) {
        this.files = files;
        this.launcher = launcher;
    }

    /// Brings processors of a running machine online until the guest has `total`.
    MachineShape addCpus(
            VmId vm, Machines.Live live, MachineShape shape, int total, Deadline deadline) {
        live.line().guest(deadline).onlineCpus(total, deadline);
        launcher.limitCpus(vm.text(), total);
        return shape.withCpus(total);
    }

    /// Adds one memory module to a running machine. Its size is a multiple of [MachineShape#MEMORY_MODULE].
    MachineShape addMemory(
            VmId vm, Machines.Live live, MachineShape shape, Size module, Deadline deadline) {
        int index = shape.addedMemory().size();
        var grown = shape.withModule(module);
        files.blankModule(vm, index, module);
        live.qemu().addMemory(index, module, deadline);
        live.line().guest(deadline).onlineMemory(grown.totalMemory(), deadline);
        return grown;
    }

    /// Grows the disk of a running machine, and the file system on it.
    static void growDisk(Machines.Live live, Size size, Deadline deadline) {
        live.qemu().resizeDisk(size, deadline);
        live.line().guest(deadline).growDisk(deadline);
    }
}
