import java.time.Duration;

/// The server itself: how soon it answers, and how much memory it keeps when nobody asks anything.
final class ServerBench {
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final int VMS = 5;
    private static final String IMAGE = "svc/busybox";

    private final Program program;
    private final Report report;

    ServerBench(Program program, Report report) {
        this.program = program;
        this.report = report;
    }

    void start(int runs) throws Exception {
        var pair = new Pair();
        var empty = new ProcessBuilder(program.emptyProgram()).redirectErrorStream(true);
        for (int i = 0; i < runs; i++) {
            program.stop();
            pair.measure(program::start, () -> runToEnd(empty));
        }
        report.times(
                new Report.Subject("server-start", "-", 0, 0, "p50 <= 2000 ms"),
                pair.server,
                pair.floor);
    }

    private static void runToEnd(ProcessBuilder builder) throws Exception {
        var process = builder.start();
        process.getInputStream().readAllBytes();
        if (process.waitFor() != 0) {
            throw new IllegalStateException("the empty program failed");
        }
    }

    /// With a server that has just been started.
    void memory() throws Exception {
        program.stop();
        program.start();
        Thread.sleep(IDLE);
        report.value(
                new Report.Subject("server-rss", "-", 0, 0, "<= 200 MiB"), program.residentMib());
        try (var api = program.client()) {
            var vms = new String[VMS];
            for (int i = 0; i < VMS; i++) {
                vms[i] = api.createVm(IMAGE);
            }
            Thread.sleep(IDLE);
            report.value(
                    new Report.Subject("server-rss-5", IMAGE, 0, 0, ""), program.residentMib());
            for (var vm : vms) {
                api.delete("/v5/vms/" + vm);
            }
        }
    }
}
