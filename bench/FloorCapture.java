import coppice.base.Deadline;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.process.ProcessId;
import coppice.qemu.Hypervisor;
import coppice.qemu.MachineShape;
import coppice.qemu.Qemu;
import coppice.qemu.QemuLauncher;
import coppice.qemu.Twin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;

/// Captures a machine of the floor that goes on, by the steps of the server in their order: only the twin is the product's own. Nothing is
/// recorded, named, or synced, but for the disk before the stop, without which its copy would wait for it.
final class FloorCapture {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Floor source;
    private final Reflink reflink;
    private final MachineShape shape;
    private final Qemu twins;

    private FloorCapture(Floor source, Reflink reflink, MachineShape shape, Qemu twins) {
        this.source = source;
        this.reflink = reflink;
        this.shape = shape;
        this.twins = twins;
    }

    /// A machine like the sample, that runs and can be captured.
    static FloorCapture start(Floor source, Sample sample) throws Exception {
        source.make();
        source.restoreApart(sample.command(source), sample.capture());
        var memory = Size.ofMib(sample.memory());
        var shape = MachineShape.fresh(1, 1, memory, memory);
        var twins = new ArrayList<Qemu>();
        source.lendControl(() -> twins.add(adopt(source, shape)));
        return new FloorCapture(source, sample.reflink(), shape, twins.getFirst());
    }

    /// The product makes twins of what it runs. It is to do no more than that here.
    private static Qemu adopt(Floor source, MachineShape shape) {
        var process = ProcessId.of(source.pid()).orElseThrow();
        var machine =
                new QemuLauncher.Machine(Floor.NAME, shape, source.files(), 0, Optional.empty());
        var launcher = new QemuLauncher(Hypervisor.find(), Floor.NAME);
        var qemu = launcher.adopt(machine, process, _ -> {}, Deadline.in(PATIENCE)).orElseThrow();
        qemu.twin(shape, Deadline.in(PATIENCE)).close(); // it asks QEMU once, and never again
        qemu.close();
        return qemu;
    }

    /// Captures it into `capture`, which is made.
    ///
    /// @return how long it was stopped
    Duration snapshot(Path capture) throws Exception {
        try (var twin = begin(capture)) {
            var stopped = freeze(twin, capture);
            complete(twin, capture);
            return stopped;
        }
    }

    /// Captures it into `capture`, and starts copies while that is still being made. They are themselves when this returns.
    ///
    /// @return how long it was stopped
    Duration fork(Path capture, Sample sample, List<Floor> copies) throws Exception {
        var births = new ArrayList<FutureTask<Void>>();
        try (var twin = begin(capture)) {
            var stopped = freeze(twin, capture);
            var complete =
                    new FutureTask<Void>(
                            () -> {
                                complete(twin, capture);
                                return null;
                            });
            for (var copy : copies) {
                births.add(new FutureTask<>(() -> bear(copy, sample, capture, complete)));
            }
            births.forEach(birth -> Thread.ofPlatform().start(birth));
            complete.run();
            complete.get();
            for (var birth : births) {
                birth.get();
            }
            return stopped;
        }
    }

    private static Void bear(Floor copy, Sample sample, Path capture, FutureTask<Void> complete)
            throws Exception {
        copy.make();
        copy.restoreUnfinished(sample.command(copy), capture, complete);
        return null;
    }

    private Twin begin(Path capture) throws Exception {
        Files.createDirectories(capture);
        reflink.copy(source.files().ram(), capture.resolve("ram"));
        Published.sync(source.files().disk());
        Files.write(source.files().devices(), new byte[0]); // see coppice.vm.CaptureFiles
        return twins.twin(shape, Deadline.in(PATIENCE));
    }

    private Duration freeze(Twin twin, Path capture) throws Exception {
        return Step.time(
                () -> {
                    source.qmp().ask("{\"execute\":\"stop\"}");
                    source.saveDevices();
                    reflink.copy(source.files().disk(), capture.resolve("disk.raw"));
                    twin.freeze(Deadline.in(PATIENCE)).await();
                    source.qmp().ask("{\"execute\":\"cont\"}");
                });
    }

    private void complete(Twin twin, Path capture) {
        twin.copy(capture.resolve("ram"));
        reflink.copy(source.files().devices(), capture.resolve("devices"));
    }
}
