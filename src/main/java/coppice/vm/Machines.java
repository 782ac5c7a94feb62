package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.base.Undo;
import coppice.guest.Identity;
import coppice.process.CpuClock;
import coppice.process.ProcessId;
import coppice.qemu.Exit;
import coppice.qemu.Link;
import coppice.qemu.MachineEnded;
import coppice.qemu.Qemu;
import coppice.qemu.QemuLauncher;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How a VM's machine is brought to life, captured, grown and ended. Knows files, QEMU and the agent; knows nothing of states, the store
/// or accounts. Thread-safe; for one VM its loop calls it one call at a time.
final class Machines {
    private static final Logger LOG = LoggerFactory.getLogger(Machines.class);
    private static final Duration CONTROL = Duration.ofSeconds(60);
    private static final Duration AGENT = Duration.ofSeconds(20);
    private static final Duration ENDING = Duration.ofSeconds(2);

    private final VmFiles files;
    private final QemuLauncher launcher;
    private final InstantSource clock;
    private final Capturing capturing;
    private final Wiring wiring;

    /// What became of a machine that a former server started.
    sealed interface Found {}

    /// It ended, in this way.
    record Ended(Exit how) implements Found {}

    /// A machine that runs.
    record Live(Qemu qemu, GuestLine line, CpuClock cpu) implements Found, AutoCloseable {

        Live(Qemu qemu, GuestLine line) {
            this(qemu, line, new CpuClock(qemu.process()));
        }

        /// Lets go of it; the VM goes on.
        @Override
        public void close() {
            line.close();
            qemu.close();
        }
    }

    Machines(VmFiles files, QemuLauncher launcher, Wiring wiring, InstantSource clock) {
        this.files = files;
        this.launcher = launcher;
        this.wiring = wiring;
        this.clock = clock;
        this.capturing = new Capturing(files.captures(), launcher.hypervisor());
    }

    Capturing capturing() {
        return capturing;
    }

    /// A new VM from a capture: restored, and itself before it answers.
    Live create(Vm vm, Path capture, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        files.make(vm.id(), vm.hardware().user(), capture);
        return createIn(vm, capture, run, onExit, deadline);
    }

    /// As [#create], for a machine of the pool: whoever finds its directory can tell whose it is.
    Live createWarm(Vm vm, Path capture, Consumer<Exit> onExit, Deadline deadline) {
        files.make(vm.id(), vm.hardware().user(), capture);
        files.markWarm(vm.id());
        return createIn(vm, capture, UUID.randomUUID(), onExit, deadline);
    }

    private Live createIn(Vm vm, Path capture, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        var laps = new Laps();
        var restored = restore(vm, capture, run, onExit, laps, deadline);
        var copy = introduce(vm, restored, deadline);
        laps.end("identity");
        LOG.info("{}: made in {}", vm.id(), laps);
        return copy;
    }

    /// Lets a machine of the pool go on as a VM.
    Live takeWarm(Vm vm, Qemu qemu, UUID run, Deadline deadline) {
        try (var undo = new Undo()) {
            undo.onFailure(qemu::kill);
            qemu.resume(deadline);
            var live = live(vm, qemu, run);
            // Randomness and time; it has its own name since it was made.
            wiring.handOver(vm, live.line().guest(deadline), deadline);
            files.unmarkWarm(vm.id());
            undo.keep();
            return live;
        }
    }

    /// As [#create], from a capture that is still being made: the machine is started meanwhile.
    ///
    /// @param complete waits until the capture is complete
    Live create(
            Vm vm,
            Path unfinished,
            Runnable complete,
            UUID run,
            Consumer<Exit> onExit,
            Deadline deadline) {
        var hardware = vm.hardware();
        files.make(vm.id(), hardware.user(), unfinished);
        files.unpackUnfinished(
                vm.id(), hardware.user(), unfinished, hardware.resources().storage());
        try (var undo = new Undo()) {
            var qemu = launcher.expect(plugged(vm), onExit, deadline);
            undo.onFailure(qemu::kill);
            complete.run();
            files.fill(vm.id(), unfinished);
            var agent = undo.add(qemu.load(deadline));
            qemu.resume(deadline);
            undo.keep();
            return introduce(vm, live(vm, qemu, run, Optional.of(agent)), deadline);
        }
    }

    /// Prepares a new VM that [#bootCopy] starts, from the disk of one that is stopped.
    void copyStopped(VmId from, Vm vm) {
        files.make(vm.id(), vm.hardware().user(), files.of(from).directory());
        files.copyDisk(from, vm.id(), vm.hardware().user());
    }

    Live bootCopy(Vm vm, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        var booted = start(vm, run, onExit, deadline);
        try (var undo = new Undo()) {
            undo.onFailure(booted.qemu()::kill);
            awaitAgent(
                    booted.qemu(),
                    () ->
                            wiring.connect(
                                    vm,
                                    booted.line().introduce(newIdentity(vm.id()), deadline),
                                    deadline),
                    deadline);
            files.sync(vm.id());
            undo.keep();
            return booted;
        }
    }

    /// Has a copy become itself, and last through a power cut. If it cannot, it is ended.
    private Live introduce(Vm vm, Live copy, Deadline deadline) {
        try (var undo = new Undo()) {
            undo.onFailure(copy.qemu()::kill);
            var syncing = new FutureTask<>(() -> files.sync(vm.id()), true);
            Thread.ofVirtual().name("sync-" + vm.id()).start(syncing);
            wiring.connect(vm, copy.line().introduce(newIdentity(vm.id()), deadline), deadline);
            await(syncing);
            undo.keep();
            return copy;
        }
    }

    private static void await(FutureTask<Boolean> syncing) {
        try {
            syncing.get();
        } catch (ExecutionException e) {
            throw new Failure(Code.UNAVAILABLE, "the files could not be synced", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while syncing files", e);
        }
    }

    /// A paused VM goes on.
    Live resume(Vm vm, UUID generation, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        var laps = new Laps();
        var live = restore(vm, files.pause(vm.id(), generation), run, onExit, laps, deadline);
        try (var undo = new Undo()) {
            undo.onFailure(live.qemu()::kill);
            greet(vm, live.qemu(), live.line(), deadline);
            laps.end("agent");
            LOG.info("{}: resumed in {}", vm.id(), laps);
            undo.keep();
            return live;
        }
    }

    private Live restore(
            Vm vm, Path capture, UUID run, Consumer<Exit> onExit, Laps laps, Deadline deadline) {
        Capture.read(capture).requireRestorable(vm.hardware().shape(), launcher.hypervisor());
        files.unpack(vm.id(), vm.hardware().user(), capture);
        laps.end("files");
        try (var undo = new Undo()) {
            var qemu = launcher.expect(plugged(vm), onExit, deadline);
            undo.onFailure(qemu::kill);
            laps.end("qemu");
            var agent = undo.add(qemu.load(deadline));
            laps.end("devices");
            qemu.resume(deadline);
            laps.end("cont");
            undo.keep();
            return live(vm, qemu, run, Optional.of(agent));
        }
    }

    private Live live(Vm vm, Qemu qemu, UUID run) {
        return live(vm, qemu, run, Optional.empty());
    }

    private Live live(Vm vm, Qemu qemu, UUID run, Optional<SocketChannel> agent) {
        return new Live(qemu, new GuestLine(vm.id(), qemu, run, agent, clock));
    }

    /// Tells the agent of a VM that goes on what time it is. A VM whose agent its user has broken still goes on: it is the same VM, and
    /// nobody else could mend it.
    private void greet(Vm vm, Qemu qemu, GuestLine line, Deadline deadline) {
        // The rest is for what comes after it: a start does without the agent.
        var until = deadline.atMost(AGENT).atMost(deadline.left().dividedBy(2));
        try {
            wiring.reconnect(vm, line.guest(until), until);
        } catch (Failure e) {
            if (isEnding(qemu, until)) {
                throw ended(qemu, "went on", e);
            }
            LOG.warn("{} goes on without its agent: {}", vm.id(), e.getMessage());
            wiring.open(vm);
        }
    }

    /// A stopped VM boots from its disk.
    Live boot(Vm vm, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        var booted = start(vm, run, onExit, deadline);
        try (var undo = new Undo()) {
            undo.onFailure(booted.qemu()::kill);
            awaitAgent(
                    booted.qemu(),
                    () -> wiring.connect(vm, booted.line().guest(deadline), deadline),
                    deadline);
            undo.keep();
            return booted;
        }
    }

    private Live start(Vm vm, UUID run, Consumer<Exit> onExit, Deadline deadline) {
        files.blankMemory(vm.id(), vm.hardware().shape().totalMemory());
        try (var undo = new Undo()) {
            var qemu = launcher.boot(plugged(vm), onExit, deadline);
            undo.onFailure(qemu::kill);
            qemu.resume(deadline);
            undo.keep();
            return live(vm, qemu, run);
        }
    }

    private static void awaitAgent(Qemu qemu, Runnable greeting, Deadline deadline) {
        try {
            greeting.run();
        } catch (Failure e) {
            if (isEnding(qemu, deadline)) {
                throw ended(qemu, "booted", e);
            }
            if (deadline.isPast()) {
                var console = qemu.console(Deadline.in(Duration.ofSeconds(2)));
                throw new Failure(
                        Code.VM_START_TIMEOUT,
                        "the VM did not become ready in time; its console ends with: "
                                + console.substring(Math.max(0, console.length() - 300))
                                        .replaceAll("\\p{Cntrl}+", " "),
                        e);
            }
            throw e;
        }
    }

    /// The agent's connection breaks a moment before its QEMU is known to have ended. One that was given up when its time was up did not
    /// break.
    private static boolean isEnding(Qemu qemu, Deadline greeting) {
        return greeting.isPast() ? !qemu.isAlive() : qemu.hasEnded(Deadline.in(ENDING));
    }

    private static Failure ended(Qemu qemu, String when, Failure seen) {
        var how = qemu.exit();
        return new Failure(
                Code.UNAVAILABLE,
                "%s while it %s"
                        .formatted(
                                how == Exit.PANIC ? "the guest's kernel panicked" : "the VM ended",
                                when),
                new MachineEnded(how, seen));
    }

    /// Takes over a machine that a former server started, and lets it go on if that server stopped it for a capture.
    Found adopt(Vm vm, ProcessId process, UUID run, Consumer<Exit> onExit) {
        var deadline = Deadline.in(CONTROL);
        var qemu = launcher.adopt(machine(vm, Optional.empty()), process, onExit, deadline);
        if (qemu.isEmpty()) {
            return new Ended(Exit.CRASHED);
        }
        var ended = qemu.get().endIfShutDown(deadline);
        if (ended.isPresent()) {
            return new Ended(ended.get());
        }
        if (!qemu.get().isRunning(deadline)) {
            qemu.get().resume(deadline);
        }
        wiring.adopt(vm);
        return live(vm, qemu.get(), run);
    }

    /// A place for a capture that lasts no longer than what is made from it.
    Path newStage() {
        return files.snapshots().resolve("stage-" + UUID.randomUUID());
    }

    /// Where the capture of a paused VM is.
    Path pauseOf(VmId vm, UUID generation) {
        return files.pause(vm, generation);
    }

    /// Captures a machine and ends it. When the capture fails the machine goes on as if nothing had been.
    void pause(Vm vm, Live live, UUID generation, Deadline deadline) {
        capturing.pause(vm, live, generation, files.pause(vm.id(), generation), deadline);
        live.qemu().quit(deadline);
    }

    MachineGrowth growth() {
        return new MachineGrowth(files, launcher);
    }

    /// Removes what a VM that has just been paused does not need any more.
    void clearPaused(VmId vm) {
        files.clearPaused(vm);
    }

    /// Removes the capture that a running VM has gone on from, and unfinished ones.
    void clearPauses(VmId vm, Optional<UUID> except) {
        files.clearPauses(vm, except);
    }

    /// Makes the disk of the last pause the VM's disk and forgets the memory.
    void dropPause(Vm vm, UUID generation) {
        files.dropPause(vm.id(), vm.hardware().user(), generation);
    }

    /// Ends whatever runs for a VM and removes its files.
    void delete(VmId vm) {
        sweep(vm);
        wiring.forget(vm);
        files.delete(vm);
    }

    /// Ends whatever runs for a VM; its files stay.
    void sweep(VmId vm) {
        launcher.sweep(vm.text());
        unplug(vm);
    }

    /// Takes a VM whose machine has ended out of its network.
    void unplug(VmId vm) {
        wiring.unplug(vm);
    }

    Wiring wiring() {
        return wiring;
    }

    /// A machine that is about to be started, in its network.
    private QemuLauncher.Machine plugged(Vm vm) {
        return machine(vm, wiring.plug(vm));
    }

    private QemuLauncher.Machine machine(Vm vm, Optional<Link> link) {
        return new QemuLauncher.Machine(
                vm.id().text(),
                vm.hardware().shape(),
                files.of(vm.id()),
                vm.hardware().user(),
                link);
    }

    private static Identity newIdentity(VmId vm) {
        return new Identity(vm.text(), HexFormat.of().formatHex(RandomText.bytes(16)));
    }
}
