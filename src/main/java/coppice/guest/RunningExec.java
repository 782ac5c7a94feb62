package coppice.guest;

import java.net.ProtocolException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// A command, together with the output that has come so far. It outlives connections: each [Guest#run] goes on at the byte where the one
/// before stopped, so that the outcome has every byte exactly once. Only one thread at a time may run it.
///
/// A command runs at most once. As long as nothing shows that the guest has it, it is asked for again under the same id, which the
/// guest knows if it has it after all; but not after a reboot, which may have ended it: then it is lost.
public final class RunningExec {
    private final ExecId id;
    private final Optional<Exec> exec;
    private final Optional<Streams> streams;
    private final Inlet stdout;
    private final Inlet stderr;
    private final Monitor monitor;
    private final AtomicBoolean busy = new AtomicBoolean();
    // The rest belongs to the thread that made `busy` true.
    private boolean started;
    private Optional<String> askedInBoot = Optional.empty();

    private RunningExec(
            ExecId id, Optional<Exec> exec, Optional<Streams> streams, int outputLimit) {
        this.id = id;
        this.exec = exec;
        this.streams = streams;
        this.started = exec.isEmpty();
        this.stdout = streams.map(Streams::stdout).orElseGet(() -> Inlet.keeping(outputLimit));
        this.stderr = streams.map(Streams::stderr).orElseGet(() -> Inlet.keeping(outputLimit));
        this.monitor = streams.map(Streams::monitor).orElseGet(Monitor::new);
    }

    /// A command that is still to be started.
    public static RunningExec of(Exec exec) {
        return new RunningExec(exec.id(), Optional.of(exec), Optional.empty(), exec.outputLimit());
    }

    /// A command that was started earlier, by a server that has ended since, with this output limit.
    /// Its stdin stays as far as it was given.
    public static RunningExec attached(ExecId id, int outputLimit) {
        return new RunningExec(id, Optional.empty(), Optional.empty(), outputLimit);
    }

    /// A command that is still to be started, whose stdin comes and whose output is taken while it runs.
    static RunningExec streamed(Exec exec, Streams streams) {
        return new RunningExec(
                exec.id(), Optional.of(exec), Optional.of(streams), exec.outputLimit());
    }

    public ExecId id() {
        return id;
    }

    void begin() {
        if (!busy.compareAndSet(false, true)) {
            throw new IllegalStateException(
                    "exec %s is waited for by another thread".formatted(id));
        }
    }

    void pause() {
        busy.set(false);
    }

    /// What to ask of the guest of this boot now; empty if the command is lost. Stdin always starts anew: the guest drops what it has.
    Optional<Request> request(String boot) {
        boolean mayHaveDied =
                !started && askedInBoot.isPresent() && !askedInBoot.get().equals(boot);
        if (mayHaveDied) {
            return Optional.empty();
        }
        monitor.lock().lock();
        try {
            stdout.restart();
            stderr.restart();
            streams.map(Streams::stdin).ifPresent(Outlet::restart);
        } finally {
            monitor.lock().unlock();
        }
        var inlets = List.of(stdout, stderr);
        var stdin = streams.map(Streams::stdin).or(() -> exec.map(Exec::stdin).map(Outlet::of));
        if (!started) {
            return exec.map(
                    what -> new Request("exec", what.fields().toBytes(), stdin, inlets, monitor));
        }
        var fields =
                Request.fields("exec.attach")
                        .uuid(Tag.EXEC_ID, id.value())
                        .number(Tag.STDOUT_OFFSET, stdout.size())
                        .number(Tag.STDERR_OFFSET, stderr.size());
        return Optional.of(new Request("exec.attach", fields.toBytes(), stdin, inlets, monitor));
    }

    /// The call by which it goes on now.
    void follow(Connection connection, Call call) {
        streams.ifPresent(its -> its.follow(connection, call));
    }

    /// Remembers how far the call got.
    void learn(Call call, String boot) {
        started |= call.wasHeard();
        if (call.wasAsked()) {
            askedInBoot = Optional.of(boot);
        }
    }

    boolean hasTerminal() {
        return exec.flatMap(Exec::terminal).isPresent();
    }

    Optional<String> user() {
        return exec.flatMap(Exec::user);
    }

    /// Of streams nothing is left to tell of but what was dropped.
    private Output output(long stdoutLength, long stderrLength) {
        return streams.isPresent()
                ? new Output(
                        new byte[0],
                        new byte[0],
                        stdoutLength - stdout.size(),
                        stderrLength - stderr.size())
                : new Output(stdout.bytes(), stderr.bytes(), stdoutLength, stderrLength);
    }

    ExecOutcome outcome(Fields result) throws ProtocolException {
        if (!stdout.hasEnded() || !stderr.hasEnded()) {
            throw new ProtocolException(
                    "the result of a command came before the end of its output");
        }
        long stdoutLength = result.number(Tag.STDOUT_LENGTH, Long.MAX_VALUE);
        long stderrLength = result.number(Tag.STDERR_LENGTH, Long.MAX_VALUE);
        if (stdoutLength < stdout.size() || stderrLength < stderr.size()) {
            throw new ProtocolException("a command wrote less than came from it");
        }
        boolean exited = result.has(Tag.EXIT_STATUS);
        boolean signalled = result.has(Tag.SIGNAL);
        boolean timedOut = result.has(Tag.TIMED_OUT);
        if (exited ? signalled || timedOut : signalled == timedOut) {
            throw new ProtocolException("a command ended in no way, or in several");
        }
        var output = output(stdoutLength, stderrLength);
        if (exited) {
            return new ExecOutcome.Exited((int) result.number(Tag.EXIT_STATUS, 255), output);
        }
        if (signalled) {
            return new ExecOutcome.Signalled((int) result.number(Tag.SIGNAL, 127), output);
        }
        return new ExecOutcome.TimedOut(output);
    }
}
