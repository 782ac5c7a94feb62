package coppice.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// A process, named by its number and its start time: the number alone is given again to later processes.
///
/// @param pid the process number
/// @param startTicks start time in clock ticks since boot, field 22 of /proc/PID/stat (proc_pid_stat(5))
public record ProcessId(long pid, long startTicks) {

    /// How long a clock tick is to programs, on every architecture of Linux (USER_HZ).
    private static final Duration TICK = Duration.ofMillis(10);

    /// The live process that has this number now. A zombie counts as gone.
    public static Optional<ProcessId> of(long pid) {
        return fields(pid).map(fields -> new ProcessId(pid, startTicks(fields)));
    }

    /// From the third field on, of a process that lives.
    private static Optional<String[]> fields(long pid) {
        try {
            // The second field is the command in parentheses. A process names itself as it likes:
            // spaces, parentheses and bytes that are no UTF-8 must not make it look gone.
            var stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"), ISO_8859_1);
            var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            boolean isEnding = fields[0].equals("Z") || fields[0].equals("X");
            // One whose first thread has ended shows as a zombie while its other threads go on.
            return isEnding && Integer.parseInt(fields[17]) <= 1
                    ? Optional.empty()
                    : Optional.of(fields);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static long startTicks(String[] fields) {
        return Long.parseLong(fields[19]);
    }

    /// How long its threads, also those that have ended, were on a processor, in the kernel too; to 10 ms. Empty when it is gone.
    ///
    /// Much cheaper than [ProcessHandle#info], which looks up the names of user and program as well.
    public Optional<Duration> cpuTime() {
        return fields(pid)
                .filter(fields -> startTicks(fields) == startTicks)
                .map(fields -> Long.parseLong(fields[11]) + Long.parseLong(fields[12]))
                .map(TICK::multipliedBy);
    }

    public boolean isAlive() {
        return of(pid).filter(this::equals).isPresent();
    }

    /// SIGKILL. Does nothing when this very process is gone.
    public void kill() {
        if (isAlive()) {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
