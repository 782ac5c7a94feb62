import coppice.disk.Published;
import java.time.Duration;
import java.util.ArrayList;

/// Forks of an idle VM, beside the same by hand.
final class ForkBenches {
    private static final String TRUE = "true";
    private static final int WARM_UPS = 1;
    private static final int IDLE_COPIES = 4;
    private static final Duration IDLE = Duration.ofSeconds(20);

    private final Api api;
    private final Report report;
    private final Sample sample;

    ForkBenches(Api api, Report report, Sample sample) {
        this.api = api;
        this.report = report;
        this.sample = sample;
    }

    /// From the wish for copies until a first command has ended in each.
    void firstCommand(int runs, int copies, Report.Subject subject) throws Exception {
        var vm = api.createVm(sample.image());
        var pair = new Pair();
        try (var floor = sample.floor()) {
            var source = FloorCapture.start(floor, sample);
            for (int i = -WARM_UPS; i < runs; i++) {
                once(i < 0 ? new Pair() : pair, vm, source, copies);
            }
        }
        api.delete("/v5/vms/" + vm);
        report.times(subject, pair.server, pair.floor);
    }

    private void once(Pair pair, String vm, FloorCapture source, int count) throws Exception {
        var capture = sample.newPlace("capture");
        var made = new ArrayList<String>();
        var floors = new ArrayList<Floor>();
        for (int i = 0; i < count; i++) {
            floors.add(sample.floor());
        }
        pair.measure(
                () -> {
                    made.addAll(api.fork(vm, count));
                    for (var copy : made) {
                        api.exec(copy, TRUE);
                    }
                },
                () -> {
                    source.fork(capture, sample, floors);
                    for (var floor : floors) {
                        floor.exec(TRUE);
                    }
                });
        for (var floor : floors) {
            floor.close();
        }
        for (var copy : made) {
            api.delete("/v5/vms/" + copy);
        }
        Published.delete(capture);
    }

    /// What copies that have nothing to do have of the host's memory.
    void memory() throws Exception {
        var vm = api.createVm(sample.image());
        var copies = api.fork(vm, IDLE_COPIES);
        Thread.sleep(IDLE);
        var guest = new Stats();
        var own = new Stats();
        var share = new Stats();
        for (var copy : copies) {
            var pages = GuestPages.of(RunningQemu.named(copy).pid());
            guest.add(pages.guest() / 1024.0);
            own.add(pages.ownInAll() / 1024.0);
            share.add(pages.share() / 1024.0);
        }
        for (var copy : copies) {
            api.delete("/v5/vms/" + copy);
        }
        api.delete("/v5/vms/" + vm);
        report.sizes(sample.subject("fork-memory", "p50 <= 3 MiB"), guest);
        report.sizes(sample.subject("fork-memory-own", ""), own);
        report.sizes(sample.subject("fork-memory-pss", ""), share);
    }

    /// From the wish for a VM that is kept ready until its first command has ended. By hand it is started; that is done first, since the
    /// server fills its pool again when it has given out a VM.
    void createFromPool(int runs, Pool pool) throws Exception {
        var server = new Stats();
        var hand = new Stats();
        for (int i = -WARM_UPS; i < runs; i++) {
            pool.awaitFull();
            Duration byHand;
            try (var floor = sample.floor()) {
                byHand = Step.time(() -> createByHand(floor));
            }
            var byServer = createByServer();
            if (i >= 0) {
                hand.add(byHand);
                server.add(byServer);
            }
        }
        report.times(sample.subject("create-from-pool", "p50 <= 80 ms"), server, hand);
    }

    private Duration createByServer() throws Exception {
        long begun = System.nanoTime();
        var vm = api.createVm(sample.image());
        api.exec(vm, TRUE);
        var time = Duration.ofNanos(System.nanoTime() - begun);
        api.delete("/v5/vms/" + vm);
        return time;
    }

    private void createByHand(Floor floor) throws Exception {
        floor.make();
        floor.restore(sample.command(floor), sample.capture(), true);
        floor.exec(TRUE);
    }
}
