import coppice.disk.Published;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/// A VM that has written to its memory is paused and goes on: in the server, by hand, and by the peer's `save` and `restore`, in turn.
/// Going on ends when the agent answers.
final class PauseBench {
    private static final int WARM_UPS = 1;

    private final Api api;
    private final Report report;
    private final Sample sample;
    private final Optional<Peer> peer;
    private final Pair pauses = new Pair();
    private final Pair resumes = new Pair();
    private final Stats saves = new Stats();
    private final Stats restores = new Stats();

    PauseBench(Api api, Report report, Sample sample, Optional<Peer> peer) {
        this.api = api;
        this.report = report;
        this.sample = sample;
        this.peer = peer;
    }

    void run(int runs, int dirty) throws Exception {
        var vm = api.createVm(sample.image());
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            List<Turn> turns =
                    new ArrayList<>(
                            List.of(
                                    counts -> server(vm, dirty, counts),
                                    counts -> hand(floor, dirty, counts),
                                    counts -> peer(dirty, counts)));
            for (int i = -WARM_UPS; i < runs; i++) {
                for (var turn : turns) {
                    turn.take(i >= 0);
                }
                Collections.rotate(turns, 1);
            }
        }
        api.delete("/v5/vms/" + vm);
        report.times(
                subject("pause-dirty", dirty, ""),
                pauses.server,
                pauses.floor,
                peer.map(_ -> saves));
        report.times(
                subject("resume-dirty", dirty, "<= 1.2 x floor"),
                resumes.server,
                resumes.floor,
                peer.map(_ -> restores));
    }

    private interface Turn {
        void take(boolean counts) throws Exception;
    }

    private void server(String vm, int dirty, boolean counts) throws Exception {
        var path = "/v5/vms/" + vm;
        api.exec(vm, Work.dirty(dirty));
        var pause = Step.time(() -> api.post(path + "/pause", ""));
        var resume = Step.time(() -> api.post(path + "/start", ""));
        if (counts) {
            pauses.server.add(pause);
            resumes.server.add(resume);
        }
    }

    private void hand(Floor floor, int dirty, boolean counts) throws Exception {
        var capture = sample.newPlace("pause");
        floor.exec(Work.dirty(dirty));
        var pause = Step.time(() -> floor.pause(capture));
        var resume = Step.time(() -> floor.restore(sample.command(floor), capture, false));
        Published.delete(capture);
        if (counts) {
            pauses.floor.add(pause);
            resumes.floor.add(resume);
        }
    }

    private void peer(int dirty, boolean counts) throws Exception {
        if (peer.isPresent()) {
            var machine = peer.get();
            machine.exec(Work.dirty(dirty));
            var save = machine.capture();
            machine.forget();
            if (counts) {
                saves.add(save);
                restores.add(machine.lastRestore());
            }
        }
    }

    private Report.Subject subject(String bench, int dirty, String target) {
        return new Report.Subject(bench, sample.image(), sample.memory(), dirty, target);
    }
}
