import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/// How long a busy guest is stopped when it is captured: by the server, by hand, and by the peer, in turn.
final class StopBench {
    private static final int WARM_UPS = 1;

    private final Report report;
    private final List<Side> sides = new ArrayList<>();

    /// One of those who are compared.
    ///
    /// @param told how long the guest was stopped, as who captured it says
    /// @param seen the same, as a [StopSampler] saw it
    private record Side(Source source, Stats told, Stats seen, Stats blind) {
        Side(Source source) {
            this(source, new Stats(), new Stats(), new Stats());
        }

        private void measure(int dirty, boolean counts) throws Exception {
            source.exec(Work.dirty(dirty));
            source.exec(Work.BUSY);
            writeBack();
            var sampler = StopSampler.watch(source.pid());
            var stopped = source.capture();
            var sampled = sampler.end();
            source.forget();
            source.exec(Work.REST);
            if (counts) {
                told.add(stopped);
                seen.add(sampled.stopped());
                blind.add(sampled.blind());
            }
        }
    }

    /// What the one before left to be written, hundreds of MiB from the peer, is not to be waited for by the next.
    private static void writeBack() throws IOException, InterruptedException {
        new ProcessBuilder("sync").start().waitFor();
    }

    StopBench(Report report, Source server, Source hand, Optional<? extends Source> peer) {
        this.report = report;
        sides.add(new Side(server));
        sides.add(new Side(hand));
        peer.ifPresent(source -> sides.add(new Side(source)));
    }

    /// @param what was measured, of the time that whoever captures says; that of the sampler has another name
    void run(int runs, Report.Subject what) throws Exception {
        var order = new ArrayList<>(sides);
        for (int i = -WARM_UPS; i < runs; i++) {
            for (var side : order) {
                side.measure((int) what.dirty(), i >= 0);
            }
            Collections.rotate(order, 1);
        }
        var server = sides.get(0);
        var hand = sides.get(1);
        var peer = sides.stream().skip(2).findFirst();
        report.times(what, server.told(), hand.told(), peer.map(Side::told));
        var seen =
                new Report.Subject(
                        what.bench() + "-seen",
                        what.image(),
                        what.memory(),
                        what.dirty(),
                        peer.map(_ -> "gain >= 10").orElse(""));
        report.times(seen, server.seen(), hand.seen(), peer.map(Side::seen));
        report.note(
                "%s: the sampler looked every %.1f ms at worst, in the middle of the runs; the server's VM has %.0f MiB of its own"
                        .formatted(
                                seen.bench(),
                                server.blind().median(),
                                GuestPages.of(server.source().pid()).guest() / 1024.0));
    }
}
