package coppice.guest;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.net.ProtocolException;
import java.util.Optional;

/// A command whose stdin comes and whose output is taken while it runs, by other threads than the one that runs it with [Guest#run]: one
/// that writes, and one for each of stdout and stderr. Over all connections each byte arrives once, both ways.
///
/// A guest keeps the first bytes of the output, up to the limit of its [Exec], whether they are taken or not; what comes beyond is dropped,
/// and the outcome says so. Here no more waits than a window.
public final class StreamedExec {
    private static final int MAX_INPUT = 1 << 20;
    private static final int CHUNK = 64 * 1024;

    private final Streams streams = new Streams(MAX_INPUT);
    private final RunningExec running;

    /// What a guest has said on one of its streams.
    public sealed interface Said {
        record Bytes(byte[] bytes) implements Said {}

        /// Nothing came by the deadline.
        record Nothing() implements Said {}

        /// Nothing more will come.
        record End() implements Said {}
    }

    /// @param exec whose own stdin is not used
    public StreamedExec(Exec exec) {
        this.running = RunningExec.streamed(exec, streams);
    }

    /// What [Guest#run] runs.
    public RunningExec running() {
        return running;
    }

    public Said stdout(Deadline deadline) {
        return read(streams.stdout(), deadline);
    }

    public Said stderr(Deadline deadline) {
        return read(streams.stderr(), deadline);
    }

    /// Puts bytes on their way to stdin, all or none, 1 MiB at most at once, and waits for room until the deadline.
    ///
    /// @return whether there was room; of a command that is over, too: it is told nothing
    public boolean write(byte[] bytes, Deadline deadline) {
        return await(
                        () -> {
                            if (streams.isOver()) {
                                return Optional.of(true);
                            }
                            if (streams.stdin().room() < bytes.length) {
                                return Optional.empty();
                            }
                            streams.stdin().put(bytes, 0, bytes.length);
                            return Optional.of(true);
                        },
                        deadline)
                .orElse(false);
    }

    /// Nothing more will be written.
    public void endInput() {
        var _ =
                await(
                        () -> {
                            streams.stdin().complete();
                            return Optional.of(true);
                        },
                        Deadline.in(java.time.Duration.ZERO));
    }

    /// The command has ended or was lost; who runs it says so. What has come can still be read.
    public void end() {
        streams.end();
    }

    private Said read(Inlet inlet, Deadline deadline) {
        return this.<Said>await(
                        () -> {
                            var bytes = new byte[Math.min(inlet.available(), CHUNK)];
                            if (bytes.length > 0) {
                                inlet.take(bytes, 0, bytes.length);
                                return Optional.of(new Said.Bytes(bytes));
                            }
                            return inlet.hasEnded() || streams.isOver()
                                    ? Optional.of(new Said.End())
                                    : Optional.empty();
                        },
                        deadline)
                .orElseGet(Said.Nothing::new);
    }

    private <T> Optional<T> await(Call.Look<T> look, Deadline deadline) {
        try {
            var found = streams.monitor().await(look, deadline);
            streams.send();
            return found;
        } catch (ProtocolException e) {
            throw new IllegalStateException("a look at a command's streams parses nothing", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(
                    Code.UNAVAILABLE, "interrupted while a command's streams were waited for", e);
        }
    }
}
