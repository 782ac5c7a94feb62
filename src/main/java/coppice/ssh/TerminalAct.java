package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.NewTerminal;
import coppice.guest.TerminalEnd;
import coppice.vm.TerminalWatch;
import coppice.vm.Viewer;
import coppice.vm.ViewerEnd;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A terminal of the guest, made for its channel. It is hung up when the client goes.
final class TerminalAct implements Act, TerminalWatch {
    private static final Logger LOG = LoggerFactory.getLogger(TerminalAct.class);
    private static final int INTERRUPT = 2;
    private static final int KILL = 9;

    private final Login login;
    private final Inside inside;
    private final Wanted wanted;
    private final Streams streams;
    private final Admission admission;
    private Optional<Viewer> viewer = Optional.empty();
    private Optional<TerminalEnd> end = Optional.empty();
    private Optional<TerminalSize> size;
    private boolean isOver;

    TerminalAct(Login login, Inside inside, Wanted wanted, Streams streams, Admission admission) {
        this.login = login;
        this.inside = inside;
        this.wanted = wanted;
        this.streams = streams;
        this.admission = admission;
        this.size = wanted.terminal();
    }

    @Override
    public Ending run() {
        var sides = size().orElseThrow();
        var opened =
                inside.terminals()
                        .open(
                                login.account(),
                                login.vm().text(),
                                new NewTerminal(
                                        Optional.of(
                                                Scripts.onTerminal(
                                                        wanted.environment(), wanted.script())),
                                        login.user(),
                                        sides.columns(),
                                        sides.rows(),
                                        Optional.empty(),
                                        false),
                                user -> admission.holds(login, user));
        keep(opened);
        size().filter(now -> !now.equals(sides)).ifPresent(this::resize);
        Thread.ofVirtual().name("ssh-%s-stdin".formatted(login.vm())).start(() -> type(opened));
        try {
            return ending(opened.follow(this));
        } finally {
            hangUp();
        }
    }

    private synchronized Optional<TerminalSize> size() {
        return size;
    }

    private synchronized void keep(Viewer opened) {
        if (isOver) {
            inside.hangups().hangUp(opened);
            throw new Failure(Code.UNAVAILABLE, "the SSH client is gone");
        }
        viewer = Optional.of(opened);
    }

    private Ending ending(ViewerEnd why) {
        var ended = end();
        if (ended.isPresent()) {
            return Ending.of(ended.get());
        }
        throw new Failure(
                Code.UNAVAILABLE,
                switch (why) {
                    case DETACHED -> "the SSH client is gone";
                    case CLOSED -> "the terminal was closed; connect again for another one";
                    case STOPPED -> "the VM has stopped; connect again to start it";
                    case TOO_SLOW -> "too much output was left untaken; connect again";
                    case REVOKED -> "the right to use this VM was revoked";
                    case LOST -> "the guest cannot be reached; connect again";
                });
    }

    private synchronized Optional<TerminalEnd> end() {
        return end;
    }

    private void type(Viewer opened) {
        try {
            for (var bytes = streams.take(); bytes.length > 0; bytes = streams.take()) {
                type(opened, bytes);
            }
        } catch (Failure e) {
            streams.tell(e.getMessage());
            hangUp();
        } catch (IOException | InterruptedException e) {
            LOG.debug("a client types nothing more", e);
        }
    }

    /// A program that does not read what is typed is waited for: its client cannot type more than a window.
    private void type(Viewer opened, byte[] bytes) {
        while (!opened.isOver()) {
            try {
                opened.type(bytes);
                return;
            } catch (Failure e) {
                if (e.code() != Code.RATE_LIMITED) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void output(byte[] bytes) {
        present().ifPresent(its -> streams.stdout().write(bytes, its::nudge));
    }

    @Override
    public synchronized void exited(TerminalEnd how) {
        end = Optional.of(how);
        viewer.ifPresent(Viewer::close);
    }

    @Override
    public void resize(TerminalSize now) {
        Optional<Viewer> its;
        synchronized (this) {
            size = Optional.of(now);
            its = viewer;
        }
        its.ifPresent(opened -> opened.resize(now.columns(), now.rows()));
    }

    /// A terminal takes two; others are sent by keys.
    @Override
    public void signal(int number) {
        if (number == INTERRUPT || number == KILL) {
            present().ifPresent(its -> its.signal(number));
        }
    }

    private synchronized Optional<Viewer> present() {
        return viewer;
    }

    @Override
    public synchronized void hangUp() {
        isOver = true;
        if (end.isEmpty()) {
            viewer.ifPresent(inside.hangups()::hangUp);
            viewer = Optional.empty();
        }
    }
}
