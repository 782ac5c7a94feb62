import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/// Many connections of which most are idle: whether every call is answered as it should be, how soon, and how much memory that takes.
final class LoadBench implements Switchboard.Callers {
    private static final int IDLE = 2000;
    private static final int BUSY = 200;

    /// Not counted.
    private static final Duration WARM_UP = Duration.ofSeconds(5);

    private static final Duration BETWEEN_SAMPLES = Duration.ofSeconds(5);

    /// For the deferred calls that are still under way at the end.
    private static final Duration LAST = Duration.ofSeconds(30);

    private final Program program;
    private final Report report;
    private final Errors errors = new Errors();
    private final Switchboard board;
    private final IdleCallers idle;
    private final BusyCallers busy;
    private Stats resident = new Stats();
    private long sampled;
    private long end;
    private boolean isEnding;

    private LoadBench(
            Program program, Report report, Api api, BusyCallers.Paths paths, Switchboard board) {
        this.program = program;
        this.report = report;
        this.board = board;
        this.idle = new IdleCallers(board, api.reading(paths.vm()), errors);
        this.busy = new BusyCallers(board, api, paths, errors);
    }

    static void run(Program program, Report report, Api api, BusyCallers.Paths paths, int seconds)
            throws Exception {
        try (var board = new Switchboard(api.port())) {
            new LoadBench(program, report, api, paths, board).run(Duration.ofSeconds(seconds));
        }
    }

    private void run(Duration time) throws IOException {
        long heapBefore = program.heapMib();
        idle.open(IDLE);
        busy.open(BUSY);
        serve(WARM_UP);
        if (!program.isRunning()) {
            throw new IllegalStateException("the server ended under load: " + errors.first());
        }
        busy.take();
        resident = new Stats();
        long begun = System.nanoTime();
        sampled = begun - BETWEEN_SAMPLES.toNanos();
        serve(time);
        double seconds = (System.nanoTime() - begun) / 1e9;
        var counts = busy.take();
        busy.end();
        isEnding = true;
        serve(LAST);
        if (isAnyWaiting()) {
            errors.add("not every call was done %d s after the load".formatted(LAST.toSeconds()));
        }
        long alive = isAnyWaiting() ? 0 : idle.askAll();
        var numbers = new LinkedHashMap<String, Long>();
        numbers.put("calls", (long) counts.times.count());
        numbers.put("perSecond", Math.round(counts.times.count() / seconds));
        numbers.put("deferred", counts.deferred);
        numbers.put("polls", counts.polls);
        numbers.put("idleConnections", (long) IDLE);
        numbers.put("idleAlive", alive);
        numbers.put("busyConnections", (long) BUSY);
        numbers.put("busyAlive", (long) busy.open());
        addMemory(numbers, heapBefore);
        numbers.put("errors", errors.count());
        tell(counts.times, numbers);
    }

    private boolean isAnyWaiting() {
        return busy.goOn() || idle.isAnyWaiting();
    }

    private void serve(Duration time) throws IOException {
        end = System.nanoTime() + time.toNanos();
        board.serve(this);
    }

    /// What is in memory at the beginning and at the end, each a third of the time.
    private void addMemory(Map<String, Long> numbers, long heapBefore) {
        int third = Math.max(1, resident.count() / 3);
        var first = resident.part(0, third);
        var last = resident.part(resident.count() - third, resident.count());
        numbers.put("residentFirstThirdMib", Math.round(first.median()));
        numbers.put("residentLastThirdMib", Math.round(last.median()));
        numbers.put("residentMostMib", Math.round(resident.percentile(100)));
        numbers.put("heapBeforeMib", heapBefore);
        if (program.isRunning()) {
            numbers.put("heapAfterMib", program.heapMib());
        } else {
            errors.add("the server ended");
        }
    }

    private void tell(Stats times, Map<String, Long> numbers) throws IOException {
        var subject = new Report.Subject("api-load", "-", 0, 0, "0 errors, all idle ones alive");
        report.times(subject, times, numbers);
        report.note("api-load: " + numbers);
        report.sizes(new Report.Subject("api-load-rss", "-", 0, 0, "flat"), resident);
        if (errors.count() > 0) {
            report.alarm("api-load: %d calls or connections failed".formatted(errors.count()));
            errors.first().forEach(text -> report.alarm("api-load: " + text.strip()));
        }
    }

    @Override
    public void answered(Line line) {
        if (idle.has(line)) {
            idle.answered(line);
        } else {
            busy.answered(line);
        }
    }

    @Override
    public void broken(Line line, IOException why) {
        if (idle.has(line)) {
            idle.broken(line, why);
        } else {
            busy.broken(line, why);
        }
    }

    @Override
    public boolean goOn() throws IOException {
        long now = System.nanoTime();
        if (isEnding) {
            return now < end && isAnyWaiting();
        }
        idle.askDue();
        if (now - sampled >= BETWEEN_SAMPLES.toNanos() && program.isRunning()) {
            sampled = now;
            resident.add(program.residentMib());
        }
        return now < end && busy.open() > 0;
    }
}
