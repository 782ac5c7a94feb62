package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.vm.NewProgram;
import coppice.vm.Program;
import coppice.vm.Relay;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A program whose streams are those of its channel: binary, of any length, stderr apart from stdout.
final class ProgramAct implements Act {
    private static final Logger LOG = LoggerFactory.getLogger(ProgramAct.class);

    private final Login login;
    private final Inside inside;
    private final Wanted wanted;
    private final Streams streams;
    private Optional<Program> program = Optional.empty();
    private boolean isOver;

    ProgramAct(Login login, Inside inside, Wanted wanted, Streams streams) {
        this.login = login;
        this.inside = inside;
        this.wanted = wanted;
        this.streams = streams;
    }

    @Override
    public Ending run() {
        var started =
                inside.programs()
                        .start(
                                login.account(),
                                login.vm().text(),
                                new NewProgram(
                                        wanted.script(),
                                        login.user(),
                                        wanted.environment(),
                                        wanted.isCommand()));
        keep(started);
        try (started) {
            var stdout = relay("stdout", started.stdout(), streams.stdout());
            var stderr = relay("stderr", started.stderr(), streams.stderr());
            Thread.ofVirtual().name(name("stdin")).start(() -> feed(started));
            var outcome = started.await();
            await(stdout);
            await(stderr);
            return Ending.of(outcome);
        }
    }

    private synchronized void keep(Program started) {
        if (isOver) {
            started.close();
            throw new Failure(Code.UNAVAILABLE, "the SSH client is gone");
        }
        program = Optional.of(started);
    }

    private String name(String stream) {
        return "ssh-%s-%s".formatted(login.vm(), stream);
    }

    private FutureTask<Boolean> relay(String stream, Relay relay, Output output) {
        var task = new FutureTask<>(() -> relay(relay, output));
        Thread.ofVirtual().name(name(stream)).start(task);
        return task;
    }

    /// Without its client it has nobody to run for.
    private boolean relay(Relay relay, Output output) {
        try {
            for (var bytes = relay.read(); bytes.length > 0; bytes = relay.read()) {
                output.write(bytes, () -> {});
            }
            return true;
        } catch (RuntimeException e) {
            hangUp();
            throw e;
        }
    }

    private static void await(FutureTask<Boolean> relay) {
        try {
            var _ = relay.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Failure why) {
                throw new Failure(why.code(), why.getMessage(), why);
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while output was relayed", e);
        }
    }

    private void feed(Program started) {
        try {
            for (var bytes = streams.take(); bytes.length > 0; bytes = streams.take()) {
                started.write(bytes);
            }
            started.endInput();
        } catch (Failure e) {
            streams.tell(e.getMessage());
            hangUp();
        } catch (IOException | InterruptedException e) {
            LOG.debug("a client sends nothing more", e);
        }
    }

    @Override
    public void resize(TerminalSize size) {
        // It has no terminal.
    }

    @Override
    public void signal(int number) {
        present().ifPresent(its -> its.signal(number));
    }

    private synchronized Optional<Program> present() {
        return program;
    }

    @Override
    public synchronized void hangUp() {
        isOver = true;
        program.ifPresent(Program::close);
    }
}
