package coppice.api.v5;

import coppice.api.Call;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.vm.FileActor;
import coppice.vm.Vms;

/// Whoever may act as root in the VM that a path names.
record RootActing(Vms vms, VmRights rights) {

    /// Told before what is wrong with a request: `NOT_FOUND` if the VM is absent for the caller, `FORBIDDEN` for an identity that may not
    /// act there as root.
    ///
    /// @return names the VM by its id
    FileActor of(Call call) {
        var name = call.path("vm");
        var vm = vms.get(VmRoutes.account(call), name);
        var users = rights.require(call.caller(), vm.id().text(), () -> Vms.absent(name));
        if (!users.includesRoot()) {
            throw new Failure(
                    Code.FORBIDDEN,
                    "files are read and written as root, and you may not act as root in this VM");
        }
        return FileActor.root(vm.account(), vm.id().text());
    }
}
