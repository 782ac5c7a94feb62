package coppice.api.v5;

import coppice.api.Call;
import coppice.api.Method;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.background.Resumption;
import coppice.base.Code;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.identity.AccountId;
import coppice.identity.LinuxUsers;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.vm.StartedExec;
import coppice.vm.Vms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/// `exec-await`: runs a command and answers when it has ended.
final class ExecRoute {
    private static final long DEFAULT_TIMEOUT_MILLIS = 30_000;
    private static final long MAX_TIMEOUT_MILLIS = 300_000;
    private static final long MAX_DEFERRED_TIMEOUT_MILLIS = 86_400_000;
    private static final int OUTPUT_LIMIT = 4 << 20;
    private static final int MAX_STDIN = 1 << 20;
    private static final int MAX_COMMAND = 1 << 20;
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private final Vms vms;
    private final VmRights rights;

    ExecRoute(Vms vms, VmRights rights) {
        this.vms = vms;
        this.rights = rights;
    }

    Route route() {
        return Route.v5(Method.POST, "/vms/{vm}/exec-await", "execAwait", this::exec)
                .about("VMs", "Run a command in a VM and wait for its end; wakes the VM")
                .takes(VmSchemas.EXEC, Examples.EXEC)
                .returns(VmSchemas.EXEC_RESULT)
                .fails(Code.BAD_REQUEST, "a field is wrong, or the user does not exist")
                .fails(Code.CONFLICT, "the VM cannot be woken")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.RATE_LIMITED, "too many commands run in the VM")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time")
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                .forIdentities()
                .resumable(this::resume);
    }

    private Reply resume(UUID account, JsonObject started) {
        return Reply.ok(write(vms.await(new AccountId(account), StartedExec.parse(started))));
    }

    private Reply exec(Call call) {
        var name = call.path("vm");
        var vm = vms.get(VmRoutes.account(call), name);
        var users = rights.require(call.caller(), vm.id().text(), () -> Vms.absent(name));
        var exec = read(call.body(), call.isDeferred());
        users.check("linuxUser", exec.user());
        var started = StartedExec.of(vm.id(), exec).toJson();
        call.resumable(new Resumption(vm.id().text(), exec.user(), started));
        return Reply.ok(write(vms.exec(vm.account(), vm.id().text(), exec)));
    }

    private static Exec read(JsonObject body, boolean isDeferred) {
        var command = body.requiredString("command");
        if (command.isEmpty() || command.length() > MAX_COMMAND) {
            throw body.fault("command", "must be 1 to %d characters".formatted(MAX_COMMAND));
        }
        var user = body.string("linuxUser");
        user.ifPresent(name -> LinuxUsers.requireName("linuxUser", name));
        return new Exec(
                new ExecId(UUID.randomUUID()),
                command,
                user,
                environment(body),
                stdin(body),
                Duration.ofMillis(timeout(body, isDeferred)),
                OUTPUT_LIMIT,
                Optional.empty());
    }

    private static long timeout(JsonObject body, boolean isDeferred) {
        long millis = body.integer("timeoutMs").orElse(DEFAULT_TIMEOUT_MILLIS);
        if (millis < 1 || millis > MAX_DEFERRED_TIMEOUT_MILLIS) {
            throw body.fault("timeoutMs", "must be 1 to " + MAX_DEFERRED_TIMEOUT_MILLIS);
        }
        if (millis > MAX_TIMEOUT_MILLIS && !isDeferred) {
            throw body.fault(
                    "timeoutMs",
                    "must be at most %d; longer commands need a deferred call"
                            .formatted(MAX_TIMEOUT_MILLIS));
        }
        return millis;
    }

    private static Map<String, String> environment(JsonObject body) {
        var environment = body.stringMap("env").orElse(Map.of());
        environment.keySet().stream()
                .filter(name -> !VARIABLE.matcher(name).matches())
                .findFirst()
                .ifPresent(
                        _ -> {
                            throw body.fault("env", "names must match [A-Za-z_][A-Za-z0-9_]*");
                        });
        return environment;
    }

    private static byte[] stdin(JsonObject body) {
        try {
            var bytes = Base64.getDecoder().decode(body.string("stdin").orElse(""));
            if (bytes.length > MAX_STDIN) {
                throw body.fault(
                        "stdin", "must be at most 1 MiB when decoded; write a file instead");
            }
            return bytes;
        } catch (IllegalArgumentException e) {
            throw body.fault("stdin", "must be base64 (RFC 4648 section 4)");
        }
    }

    private static JsonWriter write(ExecOutcome outcome) {
        var output = outcome.output();
        return new JsonWriter()
                .put("stdout", new String(output.stdout(), StandardCharsets.UTF_8))
                .put("stderr", new String(output.stderr(), StandardCharsets.UTF_8))
                .putOrNull("statusCode", outcome.shellStatus())
                .put("truncated", output.isTruncated() ? Optional.of(true) : Optional.empty());
    }
}
