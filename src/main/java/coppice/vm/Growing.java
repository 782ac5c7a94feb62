package coppice.vm;

import coppice.base.Deadline;
import coppice.node.Node;

/// Gives a VM that runs more of what it has, step by step; each step that is done is written before the next is begun.
final class Growing {
    private final Machines machines;
    private final Node node;

    Growing(Machines machines, Node node) {
        this.machines = machines;
        this.node = node;
    }

    /// Grows a running VM. Everything that can be known to be impossible is refused before the first step.
    void grow(VmLife life, Resources wanted, Deadline deadline) {
        var before = life.vm().hardware();
        Growth.requireRoom(before.shape(), wanted);
        node.promiseMemory(
                life.vm().id().text(), Growth.memoryAfter(before.shape(), wanted.memory()));
        if (wanted.storage().compareTo(before.resources().storage()) > 0) {
            MachineGrowth.growDisk(life.live().orElseThrow(), wanted.storage(), deadline);
            var now = before.resources();
            life.change(before.with(new Resources(now.cpu(), now.memory(), wanted.storage())));
        }
        growMachine(life, wanted, deadline);
    }

    /// Gives a VM that was grown while it was paused what its machine lacks.
    void afterResume(VmLife life, Deadline deadline) {
        growMachine(life, life.vm().hardware().resources(), deadline);
    }

    private void growMachine(VmLife life, Resources wanted, Deadline deadline) {
        var id = life.vm().id();
        var machine = life.live().orElseThrow();
        var shape = life.vm().hardware().shape();
        if (wanted.cpu() > shape.cpus()) {
            shape = machines.growth().addCpus(id, machine, shape, wanted.cpu(), deadline);
            life.change(life.vm().hardware().with(shape));
        }
        var module = Growth.missingModule(shape, wanted.memory());
        if (module.isPresent()) {
            shape = machines.growth().addMemory(id, machine, shape, module.get(), deadline);
            life.change(life.vm().hardware().with(shape));
        }
        life.change(life.vm().hardware().with(wanted));
    }
}
