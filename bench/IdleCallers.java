import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/// Connections that are kept open and hardly used: each has been answered once and asks again only before the server would close it for
/// being idle. Not all at the same time.
final class IdleCallers implements Switchboard.Callers {
    /// The server's is 60 s.
    private static final Duration LONGEST = Duration.ofSeconds(40);

    private static final Duration SHORTEST = Duration.ofSeconds(20);

    /// How many ask at the same time at the end.
    private static final int AT_ONCE = 50;

    private final Switchboard board;
    private final byte[] request;
    private final Errors errors;

    /// Those that wait for no answer, the next one to ask first.
    private final Deque<Due> resting = new ArrayDeque<>();

    private final Set<Line> all = new HashSet<>();
    private Deque<Line> unasked = new ArrayDeque<>();
    private boolean isLastTime;
    private long answeredAtLast;

    private record Due(Line line, long nanoTime) {}

    IdleCallers(Switchboard board, byte[] request, Errors errors) {
        this.board = board;
        this.request = request;
        this.errors = errors;
    }

    /// @throws IllegalStateException when one is not answered: then there is nothing to measure
    void open(int count) throws IOException {
        long spread = LONGEST.minus(SHORTEST).toNanos() / count;
        for (int i = 0; i < count; i++) {
            var line = board.askAlone(board.open(), request);
            if (line.status() != 200) {
                throw new IllegalStateException(line.head() + line.text());
            }
            all.add(line);
            resting.add(new Due(line, System.nanoTime() + SHORTEST.toNanos() + i * spread));
        }
    }

    boolean has(Line line) {
        return all.contains(line);
    }

    /// Of all that are open, each is asked for the last time.
    ///
    /// @return how many of them were answered
    long askAll() throws IOException {
        isLastTime = true;
        unasked = new ArrayDeque<>(all);
        for (int i = 0; i < AT_ONCE; i++) {
            askNext();
        }
        board.serve(this);
        return answeredAtLast;
    }

    private void askNext() {
        if (!unasked.isEmpty()) {
            board.ask(unasked.remove(), request);
        }
    }

    boolean isAnyWaiting() {
        return all.stream().anyMatch(Line::isWaiting);
    }

    @Override
    public void answered(Line line) {
        boolean isRight = line.status() == 200;
        if (!isRight) {
            errors.add("an idle connection was answered " + line.head() + line.text());
        }
        if (isLastTime) {
            answeredAtLast += isRight ? 1 : 0;
            askNext();
        } else {
            resting.add(new Due(line, System.nanoTime() + LONGEST.toNanos()));
        }
    }

    @Override
    public void broken(Line line, IOException why) {
        all.remove(line);
        resting.removeIf(due -> due.line == line);
        unasked.remove(line);
        errors.add("an idle connection broke: " + why.getMessage());
        if (isLastTime) {
            askNext();
        }
    }

    /// For as long as anything is waited for at the end.
    @Override
    public boolean goOn() {
        return !unasked.isEmpty() || isAnyWaiting();
    }

    /// Has those ask whose time has come.
    void askDue() {
        long now = System.nanoTime();
        while (!resting.isEmpty() && resting.peek().nanoTime - now <= 0) {
            board.ask(resting.remove().line, request);
        }
    }
}
