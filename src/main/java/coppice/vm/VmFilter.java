package coppice.vm;

import java.util.Map;
import java.util.Optional;

/// Which VMs to list. What is absent does not narrow.
///
/// @param state the word of a state
/// @param snapshot id, slug or `owner/slug` of the snapshot they were made from
/// @param metadata labels that all must be there
public record VmFilter(
        Optional<String> state,
        Optional<String> slug,
        Optional<String> snapshot,
        Map<String, String> metadata) {

    boolean matches(Vm vm, Optional<SnapshotId> origin) {
        return (state.isEmpty() || state.get().equals(vm.state().word()))
                && (slug.isEmpty() || vm.settings().slug().map(Object::toString).equals(slug))
                && (origin.isEmpty() || origin.get().equals(vm.origin().snapshot()))
                && (metadata.isEmpty()
                        || vm.settings().metadata().entrySet().containsAll(metadata.entrySet()));
    }
}
