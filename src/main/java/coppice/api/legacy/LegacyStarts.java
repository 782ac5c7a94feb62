package coppice.api.legacy;

import static coppice.api.Method.POST;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.DeletedVm;
import coppice.vm.Timers;
import coppice.vm.Vm;
import coppice.vm.VmId;
import coppice.vm.VmState;
import coppice.vm.Vms;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The legacy operations after which a VM runs.
final class LegacyStarts {
    private final Vms vms;
    private final LegacyCreation creation;

    LegacyStarts(Vms vms) {
        this.vms = vms;
        this.creation = new LegacyCreation(vms);
    }

    List<Route> routes() {
        return List.of(createRoute(), startRoute());
    }

    private Route createRoute() {
        var route =
                Route.legacy(POST, "/v1/vms", "legacyCreateVm", this::create)
                        .creates()
                        .about(
                                "Legacy",
                                "Create a VM from a snapshot, set it up inside, and wait for it")
                        .takes(SetupSchemas.CREATE, Examples.CREATE_VM)
                        .returns(LegacyVmSchemas.CREATED)
                        .fails(Code.CREATE_VM_BAD_REQUEST, "a field is wrong")
                        .fails(
                                Code.VALIDATION_ERROR,
                                "a user, group, file or service is not possible")
                        .fails(Code.INVALID_SNAPSHOT_ID, "snapshotId is no id")
                        .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                        .fails(Code.TOTAL_VM_LIMIT_EXCEEDED, "the account's limit of VMs")
                        .fails(Code.SNAPSHOT_NOT_FOUND, "the snapshot is absent")
                        .fails(
                                Code.NO_DEFAULT_SNAPSHOT_AVAILABLE,
                                "none is named and there is no default")
                        .fails(Code.CONFLICT, "no capacity")
                        .fails(Code.VM_SETUP_FAILED, "the set-up inside failed; the VM is removed")
                        .fails(Code.UNAVAILABLE, "it did not come up, or this is not served yet")
                        .fails(Code.VM_START_TIMEOUT, "not ready in time");
        return ServiceSchemas.refused(SetupSchemas.refused(route));
    }

    private Route startRoute() {
        return Route.legacy(POST, "/v1/vms/{vm_id}/start", "legacyStartVm", this::start)
                .about("Legacy", "Start a VM, or resume it")
                .takes(LegacyVmSchemas.START)
                .returns(LegacyVmSchemas.STARTED)
                .fails(Code.BAD_REQUEST, "a field is wrong")
                .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                .fails(Code.TOTAL_VM_LIMIT_EXCEEDED, "the limit of VMs, of one made anew")
                .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                .fails(Code.SNAPSHOT_NOT_FOUND, "that of one made anew is gone")
                .fails(Code.NO_DEFAULT_SNAPSHOT_AVAILABLE, "one made anew names none")
                .fails(Code.VM_SETUP_FAILED, "one made anew could not be set up")
                .fails(Code.VM_IS_SUSPENDING, "it is being suspended")
                .fails(Code.CONFLICT, "run budget spent, or no capacity")
                .fails(Code.VM_DELETED, "deleted within a day, and not to be made anew")
                .fails(Code.VM_EXIT_DURING_START, "it ended while it started")
                .fails(Code.KERNEL_PANIC, "its kernel panicked while it started")
                .fails(Code.UNAVAILABLE, "it did not come up")
                .fails(Code.VM_START_TIMEOUT, "not ready in time; the start goes on");
    }

    private Reply create(Call call) {
        var vm = creation.create(LegacyVmRoutes.account(call), call.body());
        return Reply.ok(
                new JsonWriter()
                        .put("id", vm.id().text())
                        .put("domains", List.of())
                        .putOrNull("consoleUrl", Optional.empty())
                        .put("snapshotId", vm.origin().snapshot().text()));
    }

    private Reply start(Call call) {
        var name = call.path("vm_id");
        var account = LegacyVmRoutes.account(call);
        var deleted = deleted(account, name);
        var vm = deleted.isPresent() ? again(account, deleted.get(), call) : wake(call, account);
        return Reply.ok(
                new JsonWriter()
                        .put("id", vm.id().text())
                        .put("domains", List.of())
                        .putOrNull("console_url", Optional.empty()));
    }

    private Vm again(AccountId account, DeletedVm deleted, Call call) {
        requireSettings(call.body());
        if (deleted.recipe().isEmpty()) {
            throw new Failure(
                    Code.VM_DELETED,
                    "%s was deleted; create another one".formatted(deleted.id()),
                    Map.of("vmId", call.path("vm_id")));
        }
        var vm = creation.again(account, deleted);
        return vms.update(account, vm.id().text(), before -> changed(call.body(), before), false);
    }

    private Vm wake(Call call, AccountId account) {
        var name = call.path("vm_id");
        var vm = LegacyVms.named(vms, account, name);
        requireSettings(call.body());
        var seen = List.of(vm.state());
        if (vm.state() instanceof VmState.Pausing) {
            throw LegacyFailures.starting(LegacyFailures.pausing(vm), name, seen);
        }
        try {
            var id = vm.id().text();
            vms.start(account, id, patience(call.body())); // first: one that fails changes nothing
            return vms.update(account, id, before -> changed(call.body(), before), false);
        } catch (Failure e) {
            throw LegacyFailures.starting(e, name, seen);
        }
    }

    /// Of the account, deleted a short while ago, and by its id: a slug is free at once.
    private Optional<DeletedVm> deleted(AccountId account, String name) {
        return Optional.of(LegacyVms.isBareId(name) ? "vm-" + name : name)
                .filter(VmId::isId)
                .flatMap(id -> vms.deleted().find(account, new VmId(id)));
    }

    /// A VM here is ready when it runs, whatever signal is waited for.
    private static Optional<Duration> patience(JsonObject body) {
        return Optional.of(LegacyFields.readiness(body))
                .filter(_ -> body.bool("waitForReadySignal").orElse(true));
    }

    private static void requireSettings(JsonObject body) {
        LegacyFields.readiness(body);
        changed(body, Vm.Settings.NONE);
    }

    private static Vm.Settings changed(JsonObject body, Vm.Settings before) {
        var timers = before.timers();
        return new Vm.Settings(
                before.slug(),
                before.displayName(),
                new Timers(
                        BodyFields.seconds(body, "idleTimeoutSeconds", 1, timers.idle()),
                        timers.autoDelete(),
                        timers.ttl(),
                        timers.maxRun(),
                        timers.maxRunTotal()),
                before.automaticRestart(),
                before.metadata(),
                LegacyFields.activityThreshold(body).orElse(before.activityThreshold()));
    }
}
