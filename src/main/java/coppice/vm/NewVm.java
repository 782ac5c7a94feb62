package coppice.vm;

import java.util.Optional;

/// What a VM is to be.
///
/// @param snapshot id, slug or `owner/slug`; absent: the platform's default
/// @param reassignSlug whether its slug may be taken from the VM that holds it
/// @param firewall its rules, a JSON array
public record NewVm(
        Optional<String> snapshot,
        Vm.Settings settings,
        boolean reassignSlug,
        Placement placement,
        String firewall) {}
