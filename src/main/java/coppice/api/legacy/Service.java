package coppice.api.legacy;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A service of a guest as a caller describes it: a whole one, or what is to be changed of one that exists. What is absent is systemd's
/// own, or stays.
///
/// @param name without `.service`
record Service(
        String name,
        Optional<Mode> mode,
        Program program,
        Bonds bonds,
        Behaviour behaviour,
        Optional<Boolean> enable) {

    enum Mode {
        SERVICE,
        ONESHOT
    }

    /// What runs, and as whom.
    ///
    /// @param exec command lines of the shell, in their order
    record Program(
            List<String> exec,
            Map<String, String> environment,
            Optional<String> user,
            Optional<String> group,
            Optional<String> workdir) {
        Program {
            exec = List.copyOf(exec);
        }
    }

    /// Other units, by their whole names.
    record Bonds(
            List<String> after,
            List<String> requires,
            List<String> onFailure,
            List<String> wantedBy) {}

    /// @param timeoutSeconds of start and stop; 0 for none
    record Behaviour(
            Optional<Integer> timeoutSeconds,
            Optional<Integer> watchdogSeconds,
            Optional<Boolean> readySignal,
            Optional<Boolean> remainAfterExit,
            boolean deleteAfterSuccess,
            Optional<Restart> restart) {
        boolean isReadyBySignal() {
            return readySignal.orElse(false);
        }
    }

    /// @param policy systemd's word
    record Restart(
            String policy,
            Optional<Integer> seconds,
            Optional<Integer> limitBurst,
            Optional<Integer> limitSeconds) {}

    String unit() {
        return name + ".service";
    }

    boolean isOneshot() {
        return mode.equals(Optional.of(Mode.ONESHOT));
    }
}
