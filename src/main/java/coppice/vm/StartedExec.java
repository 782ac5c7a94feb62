package coppice.vm;

import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.time.Duration;
import java.util.UUID;

/// A command that was started in a VM, as far as a later server needs it to wait for its end.
///
/// @param timeLimit as it was started with
/// @param outputLimit as it was started with
public record StartedExec(VmId vm, ExecId exec, Duration timeLimit, int outputLimit) {

    public static StartedExec of(VmId vm, Exec exec) {
        return new StartedExec(vm, exec.id(), exec.timeLimit(), exec.outputLimit());
    }

    /// Reads what [#toJson] wrote.
    public static StartedExec parse(JsonObject stored) {
        return new StartedExec(
                new VmId(stored.requiredString("vm")),
                new ExecId(UUID.fromString(stored.requiredString("exec"))),
                Duration.ofMillis(stored.requiredInteger("timeLimitMillis")),
                (int) stored.requiredInteger("outputLimit"));
    }

    public JsonObject toJson() {
        return new JsonWriter()
                .put("vm", vm.text())
                .put("exec", exec.toString())
                .put("timeLimitMillis", timeLimit.toMillis())
                .put("outputLimit", outputLimit)
                .toObject();
    }
}
