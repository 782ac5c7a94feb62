import java.io.IOException;
import java.time.Duration;

/// How soon a rule counts: a VM sends a datagram each millisecond, whatever becomes of it, and a rule lets them pass or does not.
final class RuleBench implements AutoCloseable {
    private static final int WARM_UPS = 3;

    /// Longer than whatever the last change has left to be done.
    private static final Duration REST = Duration.ofMillis(50);

    private final Api api;
    private final ServerGuest sender;
    private final Arrivals arrivals;
    private final String rule;

    /// What was measured of so many changes.
    static final class Times {
        final Stats created = new Stats();
        final Stats passed = new Stats();
        final Stats deleted = new Stats();
        final Stats stopped = new Stats();
        final Stats addedByHand = new Stats();
        final Stats removedByHand = new Stats();
    }

    /// @param sender a VM that runs
    RuleBench(Api api, ServerGuest sender, Outside internet) throws IOException {
        this.api = api;
        this.sender = sender;
        this.arrivals = new Arrivals(internet.namespace());
        this.rule =
                """
                {"action":"allow","source":{"vmId":"%s"},
                 "destination":{"cidr":"%s/32","port":%d,"protocol":"udp"}}"""
                        .formatted(sender.vm(), internet.address(), Arrivals.PORT);
        sender.run(
                "setsid %s knock %s %d >/dev/null 2>&1 </dev/null & echo $! >/tmp/knock"
                        .formatted(Flow.IN_A_GUEST, internet.address(), Arrivals.PORT));
    }

    Times run(int runs) throws Exception {
        var times = new Times();
        try (var table = new HandTable()) {
            for (int i = -WARM_UPS; i < runs; i++) {
                measure(i < 0 ? new Times() : times, table);
            }
        }
        return times;
    }

    private void measure(Times times, HandTable table) throws Exception {
        times.addedByHand.add(Step.time(table::add));
        Thread.sleep(REST);
        long creating = System.nanoTime();
        var id = api.post("/v5/firewall/rules", rule).requiredString("id");
        times.created.add(Duration.ofNanos(System.nanoTime() - creating));
        times.passed.add(arrivals.first(creating));
        times.removedByHand.add(Step.time(table::remove));
        Thread.sleep(REST);
        long deleting = System.nanoTime();
        api.delete("/v5/firewall/rules/" + id);
        times.deleted.add(Duration.ofNanos(System.nanoTime() - deleting));
        times.stopped.add(arrivals.last(deleting));
    }

    @Override
    public void close() throws IOException {
        sender.run("kill $(cat /tmp/knock)");
        arrivals.close();
    }
}
