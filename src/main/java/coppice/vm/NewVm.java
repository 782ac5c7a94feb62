package coppice.vm;

import coppice.network.NewNic;
import java.util.Optional;

/// What a VM is to be.
///
/// @param snapshot id, slug or `owner/slug`; absent: the platform's default
/// @param reassignSlug whether its slug may be taken from the VM that holds it
/// @param nic its place in a private network and its firewall rules
/// @param id of a VM that is made anew after its deletion; absent: a new one
public record NewVm(
        Optional<String> snapshot,
        Vm.Settings settings,
        boolean reassignSlug,
        Placement placement,
        NewNic nic,
        Vm.Legacy legacy,
        Optional<VmId> id) {

    /// One of which the legacy family has nothing to say.
    public NewVm(
            Optional<String> snapshot,
            Vm.Settings settings,
            boolean reassignSlug,
            Placement placement,
            NewNic nic) {
        this(snapshot, settings, reassignSlug, placement, nic, Vm.Legacy.NONE, Optional.empty());
    }
}
