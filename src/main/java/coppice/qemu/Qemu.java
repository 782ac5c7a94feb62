package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Undo;
import coppice.process.ControlGroup;
import coppice.process.PlatformThread;
import coppice.process.ProcessId;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/// One running QEMU process and the way to talk to it. Thread-safe.
///
/// It is made by [QemuLauncher], which starts a process or adopts one that a former server started. It ends by [#quit], by [#kill], or by
/// itself; `onExit` is told exactly once, on a thread of its own, and from then on every call fails with `UNAVAILABLE`. Closing the
/// object only lets go of the process: the VM goes on.
public final class Qemu implements AutoCloseable {
    static final Duration POLL = Duration.ofMillis(1);
    private static final Duration STALL = Duration.ofSeconds(1);
    private static final Duration CONTROL = Duration.ofSeconds(5);

    private final ProcessId process;
    private final MachineFiles files;
    private final ControlGroup group;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicReference<Exit> exit = new AtomicReference<>(Exit.CRASHED);
    private final Stalls stalls;
    private final Qmp qmp;
    private final AgentPort port;
    private final String name;
    private volatile boolean hasShutDown;
    private volatile boolean isLettingGo;
    private volatile long processor; // 0: not asked for yet

    Qemu(
            String name,
            ProcessId process,
            MachineFiles files,
            ControlGroup group,
            Consumer<Exit> onExit,
            Deadline deadline) {
        this.name = name;
        this.process = process;
        this.files = files;
        this.group = group;
        this.stalls =
                new Stalls(
                        name,
                        limit -> status(limit).equals("io-error"),
                        this::cont,
                        this::awaitNextTry);
        this.qmp =
                Qmp.connect(
                        name,
                        files.qmp(),
                        process::isAlive,
                        deadline,
                        this::hear,
                        () -> end(onExit));
        this.port = new AgentPort(files, qmp, this::isAlive);
        askToWaitAtItsEnd(deadline);
    }

    /// When the guest ends, QEMU must wait: why it ended can be asked then, and not later, whether or not a server is there at that moment.
    private void askToWaitAtItsEnd(Deadline deadline) {
        try {
            qmp.ask("set-action", Map.of("shutdown", "pause"), deadline);
        } catch (Failure e) {
            close();
            throw e;
        }
    }

    public ProcessId process() {
        return process;
    }

    public boolean isAlive() {
        return ended.getCount() > 0;
    }

    /// Lets the guest's processors run.
    public void resume(Deadline deadline) {
        stalls.hold(false);
        cont(deadline);
    }

    private void cont(Deadline deadline) {
        qmp.ask("cont", Map.of(), deadline);
    }

    /// Stops the guest's processors.
    public void freeze(Deadline deadline) {
        stalls.hold(true);
        qmp.ask("stop", Map.of(), deadline);
        if (hasShutDown) { // told before the answer to the stop
            throw new Failure(Code.UNAVAILABLE, "the guest of %s has just ended".formatted(name));
        }
    }

    /// Whether the guest's processors run. A server that died in the middle of a capture leaves them stopped.
    public boolean isRunning(Deadline deadline) {
        return status(deadline).equals("running");
    }

    /// Ends a process whose guest ended while nobody was connected to it.
    ///
    /// @return how the guest ended; absent if it has not
    public Optional<Exit> endIfShutDown(Deadline deadline) {
        if (!status(deadline).equals("shutdown")) {
            return Optional.empty();
        }
        var how = LastWords.of(console(deadline));
        quit(deadline);
        return Optional.of(how);
    }

    private String status(Deadline deadline) {
        return qmp.ask("query-status", Map.of(), deadline).path("status").asString("");
    }

    /// Loads the device state in [MachineFiles#devices] into a QEMU that expects it. The guest stays frozen.
    ///
    /// @return a connection to the agent's port, which must be there before: see [AgentPort]
    public SocketChannel load(Deadline deadline) {
        try (var undo = new Undo()) {
            var agent = undo.add(port.connect(deadline));
            port.await(true, deadline);
            qmp.ask("migrate-incoming", Map.of("uri", "file:" + files.devices()), deadline);
            while (status(deadline).equals("inmigrate")) {
                if (deadline.isPast()) {
                    throw new Failure(
                            Code.VM_START_TIMEOUT, "the device state was not loaded in time");
                }
                pause(POLL);
            }
            undo.keep();
            return agent;
        }
    }

    /// Writes the state of all devices, without memory, to [MachineFiles#devices]. The guest must be frozen.
    public void saveDevices(Deadline deadline) {
        // Despite its name this needs no Xen: it saves every device but RAM. live=false keeps the
        // locks of the disk.
        qmp.ask(
                "xen-save-devices-state",
                Map.of("filename", files.devices().toString(), "live", false),
                deadline);
    }

    /// Copies every page that the guest changed over `image`, a copy of the memory image it runs on. The guest must be frozen.
    public Size copyMemory(MachineShape shape, Path image) {
        try (var thread = new PlatformThread("copy-" + process.pid())) {
            return thread.call(
                    () -> new GuestMemory(process.pid()).copyOwnPages(images(shape), image));
        }
    }

    /// Prepares a frozen twin of the guest's memory.
    public Twin twin(MachineShape shape, Deadline deadline) {
        return Twin.prepare(process, processor(deadline), images(shape), deadline);
    }

    /// The thread that runs the guest's first processor. It stays the same.
    private long processor(Deadline deadline) {
        if (processor == 0) {
            var processors = qmp.ask("query-cpus-fast", Map.of(), deadline);
            processor = processors.path(0).path("thread-id").asLong();
        }
        return processor;
    }

    /// What the guest's memory is mapped from, and where the first byte of each stands in a copy of all of it.
    private Map<Path, Size> images(MachineShape shape) {
        var images = new LinkedHashMap<Path, Size>();
        images.put(files.ram(), new Size(0));
        for (int i = 0; i < shape.addedMemory().size(); i++) {
            if (java.nio.file.Files.exists(files.module(i))) { // added since this QEMU was started
                images.put(files.module(i), shape.offsetOfModule(i));
            }
        }
        return images;
    }

    /// How much of its memory is its own: at most this much would be written by a capture.
    public Size ownMemory() {
        try (var lines =
                java.nio.file.Files.lines(
                        Path.of("/proc", Long.toString(process.pid()), "status"))) {
            return lines.filter(line -> line.startsWith("RssAnon:"))
                    .map(line -> new Size(Long.parseLong(line.replaceAll("\\D", "")) << 10))
                    .findFirst()
                    .orElse(new Size(0));
        } catch (java.io.IOException e) {
            return new Size(0); // it has just ended, and what needs its memory will find that out
        }
    }

    /// Connects to the agent's port. QEMU serves one connection at a time.
    public SocketChannel connectAgent(Deadline deadline) {
        return port.connect(deadline);
    }

    /// Waits until QEMU has seen that nobody is connected to the agent's port.
    public void awaitAgentGone(Deadline deadline) {
        port.await(false, deadline);
    }

    /// Adds a memory module of zeros, whose backing file is [MachineFiles#module]. The guest's agent must bring it online.
    public void addMemory(int index, Size size, Deadline deadline) {
        qmp.ask(
                "object-add",
                Map.of(
                        "qom-type",
                        "memory-backend-file",
                        "id",
                        "module" + index,
                        "size",
                        size.bytes(),
                        "mem-path",
                        files.module(index).toString(),
                        "share",
                        false,
                        "readonly",
                        true,
                        "rom",
                        "off"),
                deadline);
        try {
            qmp.ask(
                    "device_add",
                    Map.of("driver", "pc-dimm", "id", "dimm" + index, "memdev", "module" + index),
                    deadline);
        } catch (Failure e) {
            qmp.ask("object-del", Map.of("id", "module" + index), deadline);
            throw e;
        }
    }

    /// Tells the guest that its disk has grown.
    public void resizeDisk(Size size, Deadline deadline) {
        qmp.ask("block_resize", Map.of("node-name", "disk", "size", size.bytes()), deadline);
    }

    /// Presses the power button.
    public void pressPower(Deadline deadline) {
        qmp.ask("system_powerdown", Map.of(), deadline);
    }

    /// What the guest last wrote to its serial console, at most 64 KiB.
    public String console(Deadline deadline) {
        return qmp.ask("ringbuf-read", Map.of("device", "console", "size", 65536), deadline)
                .asString("");
    }

    /// Ends the process in an orderly way: disks are flushed. Returns when it is gone.
    public void quit(Deadline deadline) {
        exit.set(Exit.ASKED);
        try {
            qmp.ask("quit", Map.of(), deadline);
        } catch (Failure e) {
            process.kill(); // it may have ended before its answer reached us, which is as good
        }
        awaitEnd(deadline);
    }

    /// Ends the process at once. Returns when it is gone.
    public void kill() {
        exit.set(Exit.ASKED);
        process.kill();
        awaitEnd(Deadline.in(Duration.ofSeconds(10)));
        group.delete();
    }

    /// How it ended, once it is not alive any more.
    public Exit exit() {
        return exit.get();
    }

    /// Waits for the process to end by itself.
    ///
    /// @return whether it did
    public boolean hasEnded(Deadline deadline) {
        try {
            return ended.await(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for a QEMU to end", e);
        }
    }

    private void awaitEnd(Deadline deadline) {
        if (!hasEnded(deadline)) {
            process.kill();
            if (!hasEnded(Deadline.in(Duration.ofSeconds(5)))) {
                throw new Failure(
                        Code.UNAVAILABLE, "QEMU process %d does not end".formatted(process.pid()));
            }
        }
    }

    private void hear(JsonNode event) {
        switch (event.path("event").asString("")) {
            case "SHUTDOWN" -> hearShutdown(event.path("data").path("reason").asString(""));
            case "STOP" -> stalls.stopped();
            case "GUEST_PANICKED" -> exit.compareAndSet(Exit.CRASHED, Exit.PANIC);
            default -> {} // other events say nothing that is not asked for
        }
    }

    private void hearShutdown(String reason) {
        switch (reason) {
            case "guest-shutdown" -> endAs(() -> Exit.POWER_OFF);
            case "guest-panic" -> endAs(() -> Exit.PANIC);
            case "guest-reset" -> endAs(() -> LastWords.ofReset(console(Deadline.in(CONTROL))));
            default -> {} // the process was told to end, by the server or by a signal
        }
    }

    /// The guest has ended and QEMU waits: remembers how, and ends it.
    private void endAs(Supplier<Exit> how) {
        hasShutDown = true;
        Thread.ofVirtual()
                .name("end-" + name)
                .start(
                        () -> {
                            try {
                                exit.compareAndSet(Exit.CRASHED, how.get());
                                qmp.ask("quit", Map.of(), Deadline.in(CONTROL));
                            } catch (Failure e) {
                                if (!isLettingGo) { // else the next server looks how it ended
                                    process.kill();
                                }
                            }
                        });
    }

    /// Runs when the control socket has ended. The process is about to end too, or no one can control it any more.
    private void end(Consumer<Exit> onExit) {
        Thread.ofVirtual()
                .name("exit-" + name)
                .start(
                        () -> {
                            var patience = Deadline.in(Duration.ofSeconds(5));
                            while (process.isAlive() && !isLettingGo) {
                                if (patience.isPast()) {
                                    process.kill();
                                }
                                pause(POLL);
                            }
                            if (!isLettingGo) {
                                group.delete();
                                ended.countDown();
                                onExit.accept(exit.get());
                            }
                        });
    }

    /// Fails when there is nothing more to try.
    private void awaitNextTry() {
        pause(STALL);
        if (!isAlive() || isLettingGo) {
            throw new Failure(Code.UNAVAILABLE, "the QEMU has ended, or is another server's");
        }
    }

    static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while waiting for QEMU", e);
        }
    }

    @Override
    public void close() {
        isLettingGo = true;
        qmp.close();
    }
}
