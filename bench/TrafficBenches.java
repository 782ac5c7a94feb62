import java.time.Duration;

/// TCP of guests of one image, beside the same where no rule is.
final class TrafficBenches {
    private static final Duration LENGTH = Duration.ofSeconds(2);
    private static final int WARM_UPS = 1;

    /// Connects before it is somebody else's turn.
    private static final int ROUND = 20;

    private final Report report;
    private final Sample sample;

    TrafficBenches(Report report, Sample sample) {
        this.report = report;
        this.sample = sample;
    }

    /// Traffic for a fixed time, in MiB/s.
    ///
    /// @param isSent whether it goes the way of the flow; else it comes back
    void throughput(String name, String target, int runs, boolean isSent, Flow server, Flow hand)
            throws Exception {
        var pair = new Pair();
        for (int i = -WARM_UPS; i < runs; i++) {
            var now = i < 0 ? new Pair() : pair;
            now.inTurn(
                    () -> now.server.add(isSent ? server.send(LENGTH) : server.receive(LENGTH)),
                    () -> now.floor.add(isSent ? hand.send(LENGTH) : hand.receive(LENGTH)));
        }
        report.rates(sample.subject(name, target), Report.Rate.MIB, pair.server, pair.floor);
    }

    /// The times of so many connects; more, if they are no whole rounds.
    void connects(String name, int count, Flow server, Flow hand) throws Exception {
        var pair = new Pair();
        server.connect(ROUND);
        hand.connect(ROUND);
        while (pair.server.count() < count) {
            pair.inTurn(
                    () -> pair.server.addAll(server.connect(ROUND)),
                    () -> pair.floor.addAll(hand.connect(ROUND)));
        }
        report.times(sample.subject(name, ""), pair.server, pair.floor);
    }
}
