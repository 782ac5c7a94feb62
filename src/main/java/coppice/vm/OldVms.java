package coppice.vm;

import coppice.base.Failure;
import coppice.network.MemberId;
import coppice.network.Networks;
import coppice.network.NewNic;
import coppice.network.StoredRules;
import coppice.node.Node;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// VMs that were made before there were networks get their interface and their rules when a server starts.
final class OldVms {
    private static final Logger LOG = LoggerFactory.getLogger(OldVms.class);

    private OldVms() {}

    /// @param rules as the row has them
    record Old(Vm vm, String rules) {}

    static void connect(VmRecords records, Networks networks, Node node) {
        for (var old : records.withoutNic()) {
            try {
                join(
                        records,
                        networks,
                        node,
                        old,
                        new NewNic(Optional.empty(), StoredRules.read(old.rules())));
            } catch (Failure e) {
                LOG.warn("{} lost its firewall rules: {}", old.vm().id(), e.getMessage());
                join(records, networks, node, old, new NewNic(Optional.empty(), List.of()));
            }
        }
    }

    private static void join(VmRecords records, Networks networks, Node node, Old old, NewNic nic) {
        var vm = old.vm();
        networks.join(
                vm.account(),
                new MemberId(vm.id().text()),
                node.slot(vm.hardware().user()),
                nic,
                records::also);
    }
}
