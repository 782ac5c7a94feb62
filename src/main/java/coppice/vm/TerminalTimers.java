package coppice.vm;

import coppice.base.Ticks;
import java.time.Duration;

/// Has the viewers of terminals ended whose right to look is gone, every ten seconds, until it is closed.
public final class TerminalTimers implements AutoCloseable {
    private static final Duration EVERY = Duration.ofSeconds(10);

    private final Ticks ticks;

    private TerminalTimers(Ticks ticks) {
        this.ticks = ticks;
    }

    public static TerminalTimers start(Terminals terminals) {
        return new TerminalTimers(Ticks.start("terminal-timers", EVERY, terminals::reconsider));
    }

    @Override
    public void close() {
        ticks.close();
    }
}
