package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/// Runs the platform's own scripts in one VM. What callers say goes into a script by its environment and its stdin, never by its text.
interface GuestShell {
    String ROOT = "root";

    /// Waits until the script has ended. At the deadline the guest kills it.
    Answer run(Script script, Deadline deadline);

    /// @param user who runs it
    record Script(String text, String user, Map<String, String> environment, byte[] stdin) {
        static Script ofRoot(String text, Map<String, String> environment) {
            return new Script(text, ROOT, environment, new byte[0]);
        }

        Script as(String other) {
            return new Script(text, other, environment, stdin);
        }

        Script reading(byte[] input) {
            return new Script(text, user, environment, input);
        }
    }

    /// @param status absent: it did not end in time
    record Answer(Optional<Integer> status, String stdout, String stderr, boolean isTruncated) {
        private static final int MAX_SHOWN = 1000;

        boolean is(int wanted) {
            return status.equals(Optional.of(wanted));
        }

        boolean isSuccess() {
            return is(0);
        }

        /// What the guest said about it, fit to be shown: its last words.
        String words() {
            if (status.isEmpty()) {
                return "it did not end in time";
            }
            var said = clean(stderr.isBlank() ? stdout : stderr);
            return said.isEmpty() ? "it ended with status " + status.get() : said;
        }

        private static String clean(String text) {
            var clean = text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip();
            return clean.length() <= MAX_SHOWN
                    ? clean
                    : "..." + clean.substring(clean.length() - MAX_SHOWN);
        }
    }

    /// The shell of a VM. Running something in it wakes the VM.
    static GuestShell of(Vms vms, Vm vm) {
        return (script, deadline) -> {
            if (deadline.isPast()) {
                throw new Failure(
                        Code.VM_START_TIMEOUT,
                        "%s did not get there in time; look at its state".formatted(vm.id()));
            }
            var exec =
                    new Exec(
                            new ExecId(UUID.randomUUID()),
                            script.text(),
                            Optional.of(script.user()),
                            script.environment(),
                            script.stdin(),
                            deadline.left(),
                            MAX_OUTPUT,
                            Optional.empty());
            return read(vms.exec(vm.account(), vm.id().text(), exec));
        };
    }

    int MAX_OUTPUT = 16 << 20;

    private static Answer read(ExecOutcome outcome) {
        var output = outcome.output();
        return new Answer(
                outcome.shellStatus(),
                new String(output.stdout(), StandardCharsets.UTF_8),
                new String(output.stderr(), StandardCharsets.UTF_8),
                output.isTruncated());
    }
}
