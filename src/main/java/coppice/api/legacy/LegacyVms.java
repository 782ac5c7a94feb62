package coppice.api.legacy;

import coppice.api.Call;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.identity.LinuxUsers;
import coppice.vm.Vm;
import coppice.vm.VmState;
import coppice.vm.Vms;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/// VMs as legacy paths name them, and the names that legacy answers give to a VM's runs and memory.
final class LegacyVms {
    private static final Pattern BARE_ID = Pattern.compile("[a-z0-9]{20}");
    private static final int LAYER_LENGTH = 20;

    private LegacyVms() {}

    /// By id, by the 20 characters of its id, which come before slugs, or by slug.
    static Vm named(Vms vms, AccountId account, String name) {
        try {
            return isBareId(name) ? ofBareId(vms, account, name) : vms.get(account, name);
        } catch (Failure e) {
            throw LegacyFailures.naming(e, name);
        }
    }

    /// As which users of the guest the caller may act. A VM in which it may do nothing is as absent as one that is not there.
    static LinuxUsers users(VmRights rights, Call call, Vm vm) {
        var name = call.path("vm_id");
        try {
            return rights.require(call.caller(), vm.id().text(), () -> Vms.absent(name));
        } catch (Failure e) {
            throw LegacyFailures.naming(e, name);
        }
    }

    static boolean isBareId(String name) {
        return BARE_ID.matcher(name).matches();
    }

    private static Vm ofBareId(Vms vms, AccountId account, String name) {
        try {
            return vms.get(account, "vm-" + name);
        } catch (Failure e) {
            return vms.get(account, name); // no id: it may still be a slug
        }
    }

    /// The states of a VM that tell why something could not be done to it: the one before, and the one it has now if it is there.
    static List<VmState> seen(Vms vms, Vm before) {
        try {
            return List.of(before.state(), vms.get(before.account(), before.id().text()).state());
        } catch (Failure e) {
            if (e.code() != Code.NOT_FOUND) {
                throw e;
            }
            return List.of(before.state());
        }
    }

    /// `vmInstanceId`: the run of a VM that runs, the capture of one that is paused.
    static Optional<UUID> instance(Vm vm) {
        return switch (vm.state()) {
            case VmState.Running(_, var run, _) -> Optional.of(run);
            case VmState.Pausing(_, VmState.Running(_, var run, _), _) -> Optional.of(run);
            case VmState.Paused(_, var generation) -> Optional.of(generation);
            case VmState.Creating _, VmState.Starting _, VmState.Restarting _, VmState.Stopped _ ->
                    Optional.empty();
        };
    }

    /// `snapshotLayerId`: `sl-` and 20 characters that stand for one capture.
    static String layer(UUID capture) {
        var number = new BigInteger(capture.toString().replace("-", ""), 16);
        var digits = "0".repeat(LAYER_LENGTH) + number.toString(36);
        return "sl-" + digits.substring(digits.length() - LAYER_LENGTH);
    }
}
