package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.guest.StreamedExec;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A command with streams that runs in a guest, in a thread of its own.
final class StreamRun {
    /// A guest ends it after that if nobody has.
    static final Duration LIMIT = Duration.ofDays(365);

    private static final Duration LOOK = Duration.ofSeconds(30);
    private static final int SAID = 4096;

    private final ExecId id;
    private final StreamedExec streams;
    private final FutureTask<ExecOutcome> outcome;

    private StreamRun(ExecId id, StreamedExec streams, FutureTask<ExecOutcome> outcome) {
        this.id = id;
        this.streams = streams;
        this.outcome = outcome;
    }

    /// Where and as whom commands run.
    record Place(Guests guests, AccountId account, VmId vm, Optional<String> user) {

        StreamRun start(String script, Map<String, String> environment, int outputLimit) {
            var id = new ExecId(UUID.randomUUID());
            var streams =
                    new StreamedExec(
                            new Exec(
                                    id,
                                    script,
                                    user,
                                    environment,
                                    new byte[0],
                                    LIMIT,
                                    outputLimit,
                                    Optional.empty()));
            var outcome = new FutureTask<>(() -> guests.stream(account, vm, streams, LIMIT));
            Thread.ofVirtual().name("stream-" + vm).start(outcome);
            return new StreamRun(id, streams, outcome);
        }
    }

    ExecId id() {
        return id;
    }

    StreamedExec streams() {
        return streams;
    }

    /// Waits for it no longer; what runs goes on.
    void abandon() {
        outcome.cancel(true);
    }

    boolean isOver() {
        return outcome.isDone();
    }

    /// How it ended. Fails as it did if it could not be run, and with `UNAVAILABLE` if it has not ended by the deadline.
    ExecOutcome await(Deadline deadline) {
        try {
            return outcome.get(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (CancellationException e) {
            throw new Failure(Code.UNAVAILABLE, "the command was abandoned; start it again", e);
        } catch (TimeoutException e) {
            throw new Failure(Code.UNAVAILABLE, "a command in the VM goes on; wait for it", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while a command was waited for", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Failure why) {
                throw new Failure(why.code(), why.getMessage(), why);
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /// The first line of its stdout without its end; empty if it has ended without one.
    Optional<String> line(Deadline deadline) {
        var line = new StringBuilder();
        while (line.indexOf("\n") < 0 && line.length() < SAID) {
            switch (streams.stdout(deadline)) {
                case StreamedExec.Said.Bytes(var bytes) -> line.append(text(bytes));
                case StreamedExec.Said.End _ -> {
                    return Optional.empty();
                }
                case StreamedExec.Said.Nothing _ ->
                        throw new Failure(
                                Code.UNAVAILABLE,
                                "the guest did not begin a command in time; see whether the VM is busy");
            }
        }
        return Optional.of(line.substring(0, Math.max(0, line.indexOf("\n"))));
    }

    /// All that it says on its stderr until it ends, 4 KiB at most.
    String complaint() {
        var said = new StringBuilder();
        while (said.length() < SAID
                && streams.stderr(Deadline.in(LOOK))
                        instanceof StreamedExec.Said.Bytes(var bytes)) {
            said.append(text(bytes));
        }
        return said.toString().strip().replaceAll("\\p{Cntrl}+", " ");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }
}
