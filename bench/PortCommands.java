import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/// Commands without an agent: a shell at the other end of a port starts a process for each line, which says the line before it ends.
final class PortCommands implements AutoCloseable {
    private static final String ALL = "all";
    private static final String PROGRAM =
            """
            while read -r n; do case $n in %s) wait; echo $n;; *) sh -c "true; echo $n" & ;; esac; done"""
                    .formatted(ALL);
    private static final int PATIENCE_SECONDS = 300;

    private final BarePort port;
    private final Semaphore[] answers;
    private final Semaphore settled = new Semaphore(0);
    private final ReentrantLock saying = new ReentrantLock();

    private PortCommands(BarePort port, int callers) {
        this.port = port;
        this.answers =
                Stream.generate(() -> new Semaphore(0)).limit(callers).toArray(Semaphore[]::new);
    }

    /// @param callers how many there may be at once
    static PortCommands open(Floor floor, int callers) throws Exception {
        var commands = new PortCommands(BarePort.open(floor, PROGRAM), callers);
        Thread.ofVirtual().name("bare-port").start(commands::listen);
        return commands;
    }

    /// Runs `true`.
    void run(int caller) throws Exception {
        say(Integer.toString(caller));
        await(answers[caller]);
    }

    /// Has the shell forget the processes that have ended, which it does only when it is told to wait for them.
    void settle() throws Exception {
        say(ALL);
        await(settled);
    }

    private void say(String line) throws IOException {
        saying.lock();
        try {
            port.say(line);
        } finally {
            saying.unlock();
        }
    }

    private static void await(Semaphore answer) throws Exception {
        if (!answer.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("the floor's guest does not answer");
        }
    }

    private void listen() {
        try {
            while (true) {
                var line = port.readLine();
                (line.equals(ALL) ? settled : answers[Integer.parseInt(line)]).release();
            }
        } catch (IOException _) {
            // It was closed, or whoever waits will say that no answer comes.
        }
    }

    @Override
    public void close() throws IOException {
        port.close();
    }
}
