package coppice.api.v5;

import coppice.api.Call;
import coppice.api.VmRights;
import coppice.vm.FileActor;
import coppice.vm.Vms;

/// Whoever may act as root in the VM that a path names.
record RootActing(Vms vms, VmRights rights) {

    /// Told before what is wrong with a request: `NOT_FOUND` if the VM is absent for the caller, `LINUX_USER_NOT_ALLOWED` for an identity
    /// that may not act there as root.
    ///
    /// @return names the VM by its id
    FileActor of(Call call) {
        var name = call.path("vm");
        var vm = vms.get(VmRoutes.account(call), name);
        rights.require(call.caller(), vm.id().text(), () -> Vms.absent(name)).checkRoot();
        return FileActor.root(vm.account(), vm.id().text());
    }
}
