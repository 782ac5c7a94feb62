package coppice.vm;

import coppice.network.MemberId;
import coppice.network.Networks;
import coppice.node.Node;
import java.time.InstantSource;

/// What every VM's loop works with.
record VmContext(
        VmRecords records,
        Machines machines,
        Networks networks,
        Node node,
        InstantSource clock,
        VmLimits limits,
        Fleet fleet) {

    /// Removes a VM from the store, with its interface and the firewall rules that name it.
    void forget(Vm vm) {
        networks.leave(
                vm.account(),
                new MemberId(vm.id().text()),
                more -> records.delete(vm.id(), clock.instant(), more));
    }
}
