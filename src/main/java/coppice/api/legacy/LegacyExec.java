package coppice.api.legacy;

import coppice.api.BodyFields;
import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.background.Resumption;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.guest.TerminalName;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.StartedExec;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// `exec-await` in its old shape: in the VM's workdir, as the user that a header names.
final class LegacyExec {
    private static final int DEFAULT_TIMEOUT_MILLIS = 30_000;
    private static final int MAX_TIMEOUT_MILLIS = 300_000;
    private static final int OUTPUT_LIMIT = 4 << 20;
    private static final int MAX_COMMAND = 1 << 20;

    private final Vms vms;
    private final LinuxUserHeader user;
    private final VmRights rights;

    LegacyExec(Vms vms, LinuxUserHeader user, VmRights rights) {
        this.vms = vms;
        this.user = user;
        this.rights = rights;
    }

    Route route() {
        return Route.legacy(
                        Method.POST, "/v1/vms/{vm_id}/exec-await", "legacyExecAwait", this::exec)
                .about("Legacy", "Run a command in a VM and wait for its end; wakes the VM")
                .takes(LegacyVmSchemas.EXEC, Examples.EXEC)
                .returns(LegacyVmSchemas.EXECUTED)
                .fails(Code.BAD_REQUEST, "a field is wrong, or the user does not exist")
                .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                .fails(Code.CONFLICT, "the VM cannot be woken")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.RATE_LIMITED, "too many commands run in the VM")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time")
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                .forIdentities()
                .resumable(this::resume);
    }

    private Reply resume(UUID account, JsonObject stored) {
        var started = StartedExec.parse(stored);
        try {
            return Reply.ok(write(vms.await(new AccountId(account), started)));
        } catch (Failure e) {
            throw LegacyFailures.naming(e, started.vm().text());
        }
    }

    private Reply exec(Call call) {
        var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
        var users = LegacyVms.users(rights, call, vm);
        try {
            var exec = read(call.body(), user.of(call), vm);
            user.check(users, exec.user());
            var started = StartedExec.of(vm.id(), exec).toJson();
            call.resumable(new Resumption(vm.id().text(), exec.user(), started));
            return Reply.ok(write(vms.exec(vm.account(), vm.id().text(), exec)));
        } catch (Failure e) {
            throw LegacyFailures.naming(e, call.path("vm_id"));
        }
    }

    private static Exec read(JsonObject body, Optional<String> user, Vm vm) {
        var command = body.requiredString("command");
        if (command.isEmpty() || command.length() > MAX_COMMAND) {
            throw body.fault("command", "must be 1 to %d characters".formatted(MAX_COMMAND));
        }
        var timeout =
                BodyFields.whole(body, "timeoutMs", 1, MAX_TIMEOUT_MILLIS)
                        .orElse(DEFAULT_TIMEOUT_MILLIS);
        var terminal =
                body.string("terminal").map(name -> TerminalName.Slug.parse("terminal", name));
        return new Exec(
                new ExecId(UUID.randomUUID()),
                command,
                user,
                Map.of(),
                new byte[0],
                Duration.ofMillis(timeout),
                OUTPUT_LIMIT,
                Optional.of(vm.legacy().workdir()),
                terminal);
    }

    private static JsonWriter write(ExecOutcome outcome) {
        return new JsonWriter()
                .put("stdout", new String(outcome.output().stdout(), StandardCharsets.UTF_8))
                .put("stderr", new String(outcome.output().stderr(), StandardCharsets.UTF_8))
                .putOrNull("statusCode", outcome.shellStatus());
    }
}
