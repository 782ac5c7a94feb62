import coppice.disk.Reflink;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The group `capture`: svc/debian in several sizes. The size of a VM is that of its image, which is made anew for each and then cached.
final class CaptureGroup {
    private static final int RUNS = 20;
    private static final int POOL = 2;
    private static final String IMAGE = "svc/debian";

    private final Program program;
    private final Report report;
    private final Wanted wanted;
    private final int runs;

    CaptureGroup(Program program, Report report, Wanted wanted) {
        this.program = program;
        this.report = report;
        this.wanted = wanted;
        this.runs = wanted.runs().orElse(RUNS);
    }

    void run() throws Exception {
        for (int memory : wanted.memories()) {
            program.stop();
            program.set("COPPICE_IMAGE_DEBIAN", "1/%d/32000".formatted(memory));
            program.set("COPPICE_IMAGE_DEBIAN_CEILING", "1/%d".formatted(memory));
            program.setPool(0);
            program.buildImages(List.of("debian"));
            program.start();
            try (var api = program.client();
                    var reflink = new Reflink()) {
                var sample = Sample.take(program.volume(), api, reflink, IMAGE);
                ofSources(api, sample);
                ofForks(api, sample);
            }
            if (wanted.has("create-from-pool")) {
                createFromPool();
            }
        }
    }

    /// 1000 MiB do not fit into the small ones: a guest's file system in memory has half of it.
    private List<Integer> amounts(Sample sample) {
        return wanted.dirty().stream().filter(mib -> mib <= sample.memory() / 3).toList();
    }

    private void ofSources(Api api, Sample sample) throws Exception {
        if (!wanted.hasAny(List.of("snapshot-stop", "fork-stop", "pause-dirty"))) {
            return;
        }
        if (!wanted.peer()) {
            ofSources(api, sample, Optional.empty());
            return;
        }
        var directory = Path.of(System.getenv("COPPICE_DATA_DIRECTORY"), "libvirt");
        try (var libvirt = new Libvirt(directory);
                var peer = new Peer(libvirt, sample)) {
            ofSources(api, sample, Optional.of(peer));
        }
    }

    private void ofSources(Api api, Sample sample, Optional<Peer> peer) throws Exception {
        for (int dirty : amounts(sample)) {
            if (wanted.has("snapshot-stop")) {
                stop(api, sample, dirty, false, peer);
            }
            if (wanted.has("fork-stop")) {
                stop(api, sample, dirty, true, Optional.empty());
            }
            if (wanted.has("pause-dirty")) {
                new PauseBench(api, report, sample, peer).run(runs, dirty);
            }
        }
    }

    private void stop(Api api, Sample sample, int dirty, boolean isFork, Optional<Peer> peer)
            throws Exception {
        var log = new ServerLog(program.log());
        var target = dirty > 100 ? "p50 <= 30 ms" : "p50 <= 15, p99 <= 40 ms";
        try (var server = new ServerSource(api, log, IMAGE, isFork);
                var hand = new HandSource(sample, isFork)) {
            new StopBench(report, server, hand, peer)
                    .run(
                            runs,
                            new Report.Subject(
                                    isFork ? "fork-stop" : "snapshot-stop",
                                    IMAGE,
                                    sample.memory(),
                                    dirty,
                                    target));
        }
    }

    private void ofForks(Api api, Sample sample) throws Exception {
        var forks = new ForkBenches(api, report, sample);
        if (wanted.has("fork-first-command")) {
            forks.firstCommand(runs, 1, sample.subject("fork-first-command", "<= 1.2 x floor"));
        }
        if (wanted.has("fork-8")) {
            forks.firstCommand(runs, 8, sample.subject("fork-8", ""));
        }
        if (wanted.has("fork-memory")) {
            forks.memory();
        }
    }

    private void createFromPool() throws Exception {
        program.stop();
        if (!program.setPool(POOL)) {
            report.note("create-from-pool: this program keeps no VMs ready");
            program.start();
            return;
        }
        program.start();
        try (var api = program.client();
                var reflink = new Reflink()) {
            var sample = Sample.take(program.volume(), api, reflink, IMAGE);
            new ForkBenches(api, report, sample)
                    .createFromPool(runs, new Pool(program.volume(), POOL));
        }
    }
}
