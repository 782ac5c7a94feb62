package coppice.api.legacy;

import static coppice.api.Method.POST;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.NewFork;
import coppice.vm.NewSnapshot;
import coppice.vm.Persistence;
import coppice.vm.Snapshot;
import coppice.vm.Timers;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The legacy operations on one VM.
public final class LegacyVmRoutes {
    private static final String VM = "/v1/vms/{vm_id}";

    private final Vms vms;
    private final LinuxUserHeader user;
    private final VmRights rights;

    /// @param brand the word inside header names
    public LegacyVmRoutes(Vms vms, String brand, VmRights rights) {
        this.vms = vms;
        this.rights = rights;
        this.user = new LinuxUserHeader(brand);
    }

    public List<Route> routes() {
        return Stream.of(
                        new LegacyListing(vms, rights).routes(),
                        new LegacyStarts(vms).routes(),
                        new LegacyLife(vms).routes(),
                        List.of(new LegacyExec(vms, user, rights).route()),
                        copyingRoutes(),
                        new LegacyServices(vms, user, rights).routes())
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> copyingRoutes() {
        return List.of(
                Route.legacy(POST, VM + "/snapshot", "legacyTakeSnapshot", this::take)
                        .creates()
                        .about("Legacy", "Take a snapshot of a running or suspended VM")
                        .takes(LegacySchemas.TAKE, Examples.TAKE_SNAPSHOT)
                        .returns(LegacySchemas.TAKEN)
                        .fails(
                                Code.SNAPSHOT_VM_BAD_REQUEST,
                                "a field is wrong, or the VM is neither running nor suspended")
                        .fails(Code.SNAPSHOT_LIMIT_EXCEEDED, "the account's limit of snapshots")
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_IS_SUSPENDING, "it is being suspended")
                        .fails(Code.CONFLICT, "there is no room for it")
                        .fails(Code.UNAVAILABLE, "the capture failed; the VM is unharmed")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long"),
                Route.legacy(POST, VM + "/suspend", "legacySuspendVm", this::suspend)
                        .about("Legacy", "Suspend a VM: its memory is kept on disk")
                        .returns(LegacySchemas.SUSPENDED)
                        .fails(Code.VM_NOT_RUNNING, "it is stopped or starting")
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.CONFLICT, "there is no room for its memory")
                        .fails(Code.SUSPEND_FAILED_AND_STOPPED, "its memory is lost")
                        .fails(Code.VM_START_TIMEOUT, "it takes too long, and goes on")
                        .fails(Code.UNAVAILABLE, "its memory could not be saved; it goes on"),
                Route.legacy(POST, VM + "/fork", "legacyForkVm", this::fork)
                        .creates()
                        .about("Legacy", "Copy a VM, memory and disk, into new VMs")
                        .takes(LegacySchemas.FORK, Examples.FORK)
                        .returns(LegacySchemas.FORKED)
                        .fails(Code.VM_LIMIT_EXCEEDED, "the account's limit of running VMs")
                        .fails(Code.TOTAL_VM_LIMIT_EXCEEDED, "the account's limit of VMs")
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.VM_IS_SUSPENDING, "it is being suspended")
                        .fails(Code.CONFLICT, "no capacity")
                        .fails(Code.VM_START_TIMEOUT, "not ready in time"));
    }

    private Reply take(Call call) {
        var name = call.path("vm_id");
        var vm = LegacyVms.named(vms, account(call), name);
        try {
            var snapshot = vms.snapshot(vm.account(), vm.id().text(), wanted(call.body()));
            return Reply.ok(
                    new JsonWriter()
                            .put("snapshotId", snapshot.id().text())
                            .put("sourceVmId", vm.id().text())
                            .putOrNull("sourceVmInstanceId", LegacyVms.instance(vm)));
        } catch (Failure e) {
            throw LegacyFailures.taking(e, name, LegacyVms.seen(vms, vm));
        }
    }

    private static NewSnapshot wanted(JsonObject body) {
        return new NewSnapshot(
                new Snapshot.Settings(
                        Optional.empty(),
                        BodyFields.label(body, "name", Optional.empty()),
                        Optional.empty(),
                        Optional.empty()),
                LegacyFields.lasting(body));
    }

    private Reply suspend(Call call) {
        var name = call.path("vm_id");
        var vm = LegacyVms.named(vms, account(call), name);
        try {
            var instance =
                    LegacyVms.instance(vms.pause(vm.account(), vm.id().text())).orElseThrow();
            return Reply.ok(
                    new JsonWriter()
                            .put("id", vm.id().text())
                            .put("vmInstanceId", instance)
                            .put("snapshotLayerId", LegacyVms.layer(instance)));
        } catch (Failure e) {
            throw LegacyFailures.suspending(e, name, LegacyVms.seen(vms, vm));
        }
    }

    private Reply fork(Call call) {
        var name = call.path("vm_id");
        var vm = LegacyVms.named(vms, account(call), name);
        try {
            var wanted = fork(call.body());
            var forked = vms.fork(vm.account(), vm.id().text(), wanted);
            return Reply.ok(
                    new JsonWriter()
                            .put("vmId", forked.source().id().text())
                            .put(
                                    "forks",
                                    forked.copies().stream().map(LegacyVmRoutes::write).toList()));
        } catch (Failure e) {
            throw LegacyFailures.forking(e, name, LegacyVms.seen(vms, vm));
        }
    }

    static NewFork fork(JsonObject body) {
        var persistence = LegacyFields.persistence(body);
        var workdir = LegacyFields.workdir(body);
        var ports = LegacyFields.ports(body);
        var readiness = LegacyFields.readiness(body);
        return new NewFork(
                BodyFields.whole(body, "count", 1, NewFork.MAX_COUNT).orElse(1),
                settings(body, persistence),
                LegacyCreation.internet(),
                source -> new Vm.Legacy(ports, workdir.orElse(source.workdir()), persistence),
                Optional.of(readiness));
    }

    private static UnaryOperator<Vm.Settings> settings(JsonObject body, Persistence persistence) {
        boolean isIdleGiven = body.has("idleTimeoutSeconds");
        var idle = BodyFields.seconds(body, "idleTimeoutSeconds", 1, Optional.empty());
        var autoDelete =
                persistence instanceof Persistence.Ephemeral
                        ? Optional.of(Duration.ZERO)
                        : Optional.<Duration>empty();
        return copied -> {
            var timers = copied.timers();
            return new Vm.Settings(
                    copied.slug(),
                    copied.displayName(),
                    new Timers(
                            isIdleGiven ? idle : timers.idle(),
                            autoDelete,
                            timers.ttl(),
                            timers.maxRun(),
                            timers.maxRunTotal()),
                    copied.automaticRestart(),
                    copied.metadata(),
                    copied.activityThreshold());
        };
    }

    private static JsonWriter write(Vm copy) {
        return new JsonWriter()
                .put("id", copy.id().text())
                .put("domains", List.of())
                .putOrNull("consoleUrl", Optional.empty());
    }

    static AccountId account(Call call) {
        return new AccountId(call.caller().account());
    }
}
