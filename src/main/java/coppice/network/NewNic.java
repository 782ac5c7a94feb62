package coppice.network;

import java.util.List;
import java.util.Optional;

/// What a new VM is to have of networks.
///
/// @param slot from [Networks#takeSlot]
/// @param rules in each, one end is bare and means the VM
public record NewNic(int slot, Optional<NewMembership> place, List<NewRule> rules) {
    public NewNic {
        rules = List.copyOf(rules);
    }
}
