/// How long a long list takes, over one connection.
final class ListBench {
    /// What is asked before it is somebody else's turn.
    private static final int ROUND = 20;

    private static final int WARM_UPS = 2 * ROUND;

    private final Report report;
    private final Api api;
    private final int floorPort;

    ListBench(Report report, Api api, int floorPort) {
        this.report = report;
        this.api = api;
        this.floorPort = floorPort;
    }

    /// The floor is the same number of bytes.
    void run(String name, String path, String target, int count) throws Exception {
        int round = Math.min(ROUND, count);
        try (var server = new Chorus(api.port(), 1, api.reading(path))) {
            server.round(WARM_UPS);
            try (var floor = new Chorus(floorPort, 1, api.reading("/" + server.length()))) {
                floor.round(WARM_UPS);
                var times = new Pair();
                while (times.server.count() < count) {
                    times.inTurn(
                            () -> times.server.addAll(server.round(round).times()),
                            () -> times.floor.addAll(floor.round(round).times()));
                }
                var subject = new Report.Subject(name, "-", 0, 0, target);
                report.times(subject, times.server, times.floor);
                report.note("%s: an answer has %d bytes".formatted(name, server.length()));
            }
        }
    }
}
