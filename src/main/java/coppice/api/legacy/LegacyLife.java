package coppice.api.legacy;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.POST;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.Growth;
import coppice.vm.Vm;
import coppice.vm.VmState;
import coppice.vm.Vms;
import java.time.Duration;
import java.util.List;

/// The legacy operations that change and end a VM.
final class LegacyLife {
    private static final String VM = "/v1/vms/{vm_id}";

    /// How long a caller is kept waiting for the end of a VM.
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final Duration POLL = Duration.ofMillis(100);
    private static final int MAX_GB = 1_000_000;

    private final Vms vms;

    LegacyLife(Vms vms) {
        this.vms = vms;
    }

    List<Route> routes() {
        return List.of(
                Route.legacy(POST, VM + "/stop", "legacyStopVm", this::stop)
                        .about("Legacy", "Power a VM off; cut after 30 s")
                        .returns(LegacyVmSchemas.STOPPED)
                        .fails(Code.VM_NOT_RUNNING, "it is starting")
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_IS_SUSPENDING, "it is being suspended")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                Route.legacy(POST, VM + "/kill", "legacyKillVm", this::kill)
                        .about("Legacy", "Cut a VM at once, in any state")
                        .returns(LegacyVmSchemas.NAMED)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                Route.legacy(POST, VM + "/await", "legacyAwaitVm", this::await)
                        .about("Legacy", "Wait until a VM has stopped, or is gone")
                        .returns(LegacyVmSchemas.AWAITED)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.UNAVAILABLE, "it has not ended in ten minutes; ask again"),
                Route.legacy(POST, VM + "/resize", "legacyResizeVm", this::resize)
                        .about("Legacy", "Give a VM more processors, memory or storage")
                        .takes(LegacyVmSchemas.RESIZE)
                        .returns(LegacyVmSchemas.NOTHING)
                        .fails(Code.BAD_REQUEST, "smaller than now, above a ceiling, or no field")
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.CONFLICT, "it cannot grow that far in this state")
                        .fails(Code.RESIZE_FAILED, "the guest did not take it")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"),
                Route.legacy(POST, VM + "/optimize", "legacyOptimizeVm", this::optimize)
                        .about("Legacy", "Compact a VM's storage; there is never anything to do")
                        .returns(LegacyVmSchemas.OPTIMIZED)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account"),
                Route.legacy(DELETE, VM, "legacyDeleteVm", this::delete)
                        .about("Legacy", "Delete a VM at once, in any state")
                        .returns(LegacyVmSchemas.NAMED)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on"));
    }

    private Reply stop(Call call) {
        var vm = named(call);
        try {
            vms.stop(vm.account(), vm.id().text());
        } catch (Failure e) {
            throw LegacyFailures.stopping(e, call.path("vm_id"), LegacyVms.seen(vms, vm));
        }
        return Reply.ok(
                new JsonWriter()
                        .put("vmId", vm.id().text())
                        .putOrNull("vmInstanceId", LegacyVms.instance(vm)));
    }

    private Reply kill(Call call) {
        var vm = named(call);
        try {
            vms.kill(vm.account(), vm.id().text());
        } catch (Failure e) {
            throw LegacyFailures.naming(e, call.path("vm_id"));
        }
        return Reply.ok(new JsonWriter().put("id", vm.id().text()));
    }

    private Reply delete(Call call) {
        var vm = named(call);
        try {
            vms.delete(vm.account(), vm.id().text());
        } catch (Failure e) {
            throw LegacyFailures.naming(e, call.path("vm_id"));
        }
        return Reply.ok(new JsonWriter().put("id", vm.id().text()));
    }

    private Reply await(Call call) {
        var vm = named(call);
        return Reply.ok(
                new JsonWriter()
                        .put("id", vm.id().text())
                        .put("exitStatus", awaitEnd(vm, Deadline.in(PATIENCE))));
    }

    /// A pause is no end: it is waited on.
    private String awaitEnd(Vm vm, Deadline deadline) {
        while (true) {
            Vm now;
            try {
                now = vms.get(vm.account(), vm.id().text());
            } catch (Failure e) {
                if (e.code() == Code.NOT_FOUND) {
                    return "deleted";
                }
                throw e;
            }
            if (now.state() instanceof VmState.Stopped(_, var why)) {
                return why.isPresent() ? "crashed" : vms.wasKilled(now) ? "killed" : "stopped";
            }
            if (deadline.isPast()) {
                throw new Failure(
                        Code.UNAVAILABLE, "%s has not stopped yet; ask again".formatted(vm.id()));
            }
            try {
                Thread.sleep(POLL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Failure(Code.UNAVAILABLE, "the server stops; ask the next one", e);
            }
        }
    }

    private Reply resize(Call call) {
        var vm = named(call);
        try {
            vms.resize(vm.account(), vm.id().text(), growth(call.body()));
        } catch (Failure e) {
            throw LegacyFailures.resizing(e, call.path("vm_id"));
        }
        return Reply.ok(new JsonWriter());
    }

    static Growth growth(JsonObject body) {
        if (body.has("rootfsSizeGb") && body.has("sizeMb")) {
            throw body.fault("sizeMb", "is the old form of rootfsSizeGb; send only one of them");
        }
        var cpu = BodyFields.whole(body, "vcpuCount", 1, MAX_GB);
        var memory =
                BodyFields.whole(body, "memSizeGb", 1, MAX_GB).map(gb -> Size.ofMib(gb * 1024L));
        var storage =
                BodyFields.whole(body, "rootfsSizeGb", 1, MAX_GB)
                        .map(gb -> Size.ofMib(gb * 1000L))
                        .or(
                                () ->
                                        BodyFields.whole(body, "sizeMb", 1, Integer.MAX_VALUE)
                                                .map(Size::ofMib));
        if (cpu.isEmpty() && memory.isEmpty() && storage.isEmpty()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "vcpuCount, memSizeGb or rootfsSizeGb is required; send at least one");
        }
        return new Growth(cpu, memory, storage);
    }

    /// What a guest deletes is given back to the host at once, and a disk has no layers.
    private Reply optimize(Call call) {
        return Reply.ok(
                new JsonWriter()
                        .put("id", named(call).id().text())
                        .put("message", "its storage is compact already; nothing was done"));
    }

    private Vm named(Call call) {
        return LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
    }
}
