package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.process.PlatformThread;
import coppice.qemu.Hypervisor;
import coppice.qemu.Qemu;
import coppice.qemu.Twin;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Captures machines: the one way in which a VM is paused, snapshotted and forked.
///
/// A machine that goes on is stopped for as long as it takes to save its devices, freeze its memory in a [Twin] and clone its disk; all
/// else is done before and after. Whatever fails, the machine goes on, and there is no capture.
///
/// A stopped machine is not quite still: QEMU goes on moving what is under way between the agent's port and the server, in the guest's
/// memory and in the port's state. A capture whose memory is the younger of the two would not load, or have a port that is broken. So
/// nothing is under way when they are taken side by side, or else the memory is taken first.
final class Capturing {
    private static final Logger LOG = LoggerFactory.getLogger(Capturing.class);
    private static final Duration CONTROL = Duration.ofSeconds(60);

    private final CaptureFiles files;
    private final Hypervisor hypervisor;

    Capturing(CaptureFiles files, Hypervisor hypervisor) {
        this.files = files;
        this.hypervisor = hypervisor;
    }

    /// Captures a machine that is to end into `place`. It is stopped when this returns; when this fails it goes on.
    void pause(Vm vm, Machines.Live live, UUID generation, Path place, Deadline deadline) {
        var unfinished = Published.unfinished(place);
        try {
            begin(vm, unfinished);
            var terminals = PausedTerminals.ask(vm.id(), live.line(), deadline);
            live.line().suspend();
            live.qemu().awaitAgentGone(deadline);
            terminals.ifPresent(list -> PausedTerminals.write(list, unfinished));
            live.qemu().freeze(deadline);
            live.qemu().saveDevices(deadline);
            files.takeDisk(vm.id(), unfinished);
            live.qemu().copyMemory(vm.hardware().shape(), unfinished.resolve(Capture.RAM));
            files.takeDevices(vm.id(), unfinished);
            finish(vm, generation, unfinished, place);
        } catch (RuntimeException e) {
            throw goOn(live, unfinished, e);
        }
    }

    private static Failure goOn(Machines.Live live, Path unfinished, RuntimeException why) {
        var failure = failed(unfinished, why);
        try {
            if (live.qemu().isAlive()) {
                live.qemu().resume(Deadline.in(CONTROL));
                live.line().allow();
            }
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    /// Captures a machine that goes on into `place`.
    void snapshot(Vm vm, Machines.Live live, Path place, Deadline deadline) {
        var unfinished = Published.unfinished(place);
        try {
            begin(vm, unfinished);
            try (var instant = freeze(vm, live, unfinished, deadline)) {
                instant.copyMemory();
            }
            finish(vm, UUID.randomUUID(), unfinished, place);
        } catch (RuntimeException e) {
            throw failed(unfinished, e);
        }
    }

    /// Takes the capture of a VM that is paused as a snapshot.
    void copy(Path pause, Path place) {
        var unfinished = Published.unfinished(place);
        try {
            files.copy(pause, unfinished, place);
        } catch (RuntimeException e) {
            throw failed(unfinished, e);
        }
    }

    private static Failure failed(Path unfinished, RuntimeException why) {
        var failure =
                why instanceof Failure known
                        ? known
                        : new Failure(
                                Code.UNAVAILABLE, "the capture failed: " + why.getMessage(), why);
        try {
            Published.delete(unfinished);
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    /// Does what can be done while the machine runs. Then its memory image is there, as it will stay but for the pages that are copied.
    void begin(Vm vm, Path unfinished) {
        files.begin(vm.id(), vm.hardware().shape().totalMemory(), unfinished);
    }

    /// A machine's memory, devices and disk of one instant; of the memory the machine's own pages are yet to be copied.
    final class Instant implements AutoCloseable {
        private final VmId vm;
        private final Path unfinished;
        private final Optional<Twin> twin;

        private Instant(VmId vm, Path unfinished, Optional<Twin> twin) {
            this.vm = vm;
            this.unfinished = unfinished;
            this.twin = twin;
        }

        /// Completes the memory and the devices.
        void copyMemory() {
            var begun = System.nanoTime();
            var copied = twin.map(t -> t.copy(unfinished.resolve(Capture.RAM)));
            files.takeDevices(vm, unfinished);
            LOG.info("{}: copied {} in {} ms", vm, copied.orElse(new Size(0)), millisSince(begun));
        }

        @Override
        public void close() {
            twin.ifPresent(Twin::close);
        }
    }

    /// Stops the machine for an instant, and lets it go on.
    Instant freeze(Vm vm, Machines.Live live, Path unfinished, Deadline deadline) {
        var twin = twin(vm, live.qemu(), deadline);
        try {
            return new Instant(vm.id(), unfinished, stopped(vm, live, twin, unfinished, deadline));
        } catch (RuntimeException e) {
            twin.ifPresent(Twin::close);
            throw e;
        }
    }

    /// @return the twin, if there is one that holds the memory; else the memory is copied
    private Optional<Twin> stopped(
            Vm vm, Machines.Live live, Optional<Twin> twin, Path unfinished, Deadline deadline) {
        var laps = new Laps();
        var qemu = live.qemu();
        try (var hold = live.line().hold()) {
            qemu.freeze(deadline);
            laps.end("stop");
            var freezing = twin.map(t -> t.freeze(deadline));
            files.takeDisk(vm.id(), unfinished);
            laps.end("disk");
            if (hold.isStill()) {
                qemu.saveDevices(deadline); // changes no memory: a migration has sent it before
                laps.end("devices");
            }
            var frozen = freezing.filter(task -> isFrozen(task, vm)).flatMap(_ -> twin);
            if (frozen.isEmpty()) {
                qemu.copyMemory(vm.hardware().shape(), unfinished.resolve(Capture.RAM));
                twin.ifPresent(Twin::close);
            }
            laps.end("memory");
            if (!hold.isStill()) {
                qemu.saveDevices(deadline);
                laps.end("devices");
            }
            return frozen;
        } finally {
            if (qemu.isAlive()) {
                qemu.resume(Deadline.in(CONTROL));
            }
            laps.end("cont");
            LOG.info("{}: stopped for {}", vm.id(), laps);
        }
    }

    /// Where QEMU cannot be traced there is no twin: the machine is stopped for as long as it takes to copy what it changed.
    private static Optional<Twin> twin(Vm vm, Qemu qemu, Deadline deadline) {
        try {
            return Optional.of(qemu.twin(vm.hardware().shape(), deadline));
        } catch (Failure e) {
            return without(vm, e);
        }
    }

    private static boolean isFrozen(PlatformThread.Task<Void> freezing, Vm vm) {
        try {
            freezing.await();
            return true;
        } catch (Failure e) {
            return without(vm, e).isPresent();
        }
    }

    private static Optional<Twin> without(Vm vm, Failure why) {
        LOG.warn("{} is stopped while its memory is copied: {}", vm.id(), why.getMessage());
        return Optional.empty();
    }

    private void finish(Vm vm, UUID generation, Path unfinished, Path place) {
        try {
            files.finish(
                    new Capture(
                            generation,
                            vm.hardware().shape(),
                            vm.hardware().resources().storage(),
                            hypervisor,
                            Capture.digestOf(unfinished.resolve(Capture.DEVICES))),
                    unfinished,
                    place);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the capture cannot be finished: " + e.getMessage(), e);
        }
    }

    private static double millisSince(long begun) {
        return (System.nanoTime() - begun) / 10_000 / 100.0;
    }
}
