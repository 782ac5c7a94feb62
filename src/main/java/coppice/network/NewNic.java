package coppice.network;

import java.util.List;
import java.util.Optional;

/// What a new VM is to have of networks.
///
/// @param rules in each, one end is bare and means the VM
public record NewNic(Optional<NewMembership> place, List<NewRule> rules) {
    /// In no network, and reachable for nobody.
    public static final NewNic NONE = new NewNic(Optional.empty(), List.of());

    public NewNic {
        rules = List.copyOf(rules);
    }
}
