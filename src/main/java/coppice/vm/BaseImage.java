package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.fabric.Lone;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.identity.AccountId;
import coppice.process.Command;
import coppice.qemu.MachineShape;
import coppice.qemu.QemuLauncher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes the capture that all VMs of a guest image start from: boots the image once, lets it settle, and captures it.
public final class BaseImage {
    private static final Logger LOG = LoggerFactory.getLogger(BaseImage.class);
    private static final Duration FIRST_BOOT = Duration.ofMinutes(4);
    private static final Duration BOOT = Duration.ofMinutes(8);
    private static final Duration SETTLE = Duration.ofMinutes(6);

    /// Waits until nothing starts any more, then touches what a first command needs, so that every copy has it in memory.
    private static final String SETTLE_COMMAND =
            """
            if command -v systemctl >/dev/null; then
              systemctl is-system-running --wait; systemctl --failed --no-legend
            fi
            for again in 1 2 3; do sh -c 'id; uname -a; date; ls -l /; env; ps' >/dev/null 2>&1; done
            test ! -x /bin/bash || bash -lc true
            sync
            """;

    private final Path workshop;
    private final Reflink reflink;
    private final QemuLauncher launcher;
    private final int user;

    /// @param workshop an empty directory on the data volume, for the time of the capture
    /// @param user number of the user that the machine runs as
    public BaseImage(Path workshop, Reflink reflink, QemuLauncher launcher, int user) {
        this.workshop = workshop;
        this.reflink = reflink;
        this.launcher = launcher;
        this.user = user;
    }

    /// Boots what a recipe built and captures it into `target`, which must not exist. `target` may be on any file system.
    ///
    /// @param built disk, kernel, initial RAM disk and kernel command line
    /// @param storage size of the disk
    public void capture(Path built, MachineShape shape, Size storage, Path target) {
        var files = new VmFiles(workshop, reflink);
        files.prepare();
        var vm = describe(shape, storage);
        try (var lone = new Lone(workshop.getFileName().toString(), user)) {
            capture(built, files, vm, new LoneWiring(lone), target);
        } finally {
            Published.delete(workshop);
        }
    }

    private void capture(Path built, VmFiles files, Vm vm, Wiring wiring, Path target) {
        var machines = new Machines(files, launcher, wiring, InstantSource.system());
        try {
            var live = boot(built, files, vm, machines);
            settle(live);
            var generation = UUID.randomUUID();
            machines.pause(vm, live, generation, Deadline.in(SETTLE));
            copySparse(files.pause(vm.id(), generation), target);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the image could not be captured: " + e.getMessage(), e);
        } finally {
            machines.delete(vm.id());
        }
    }

    /// A boot that hangs is begun anew, once: emulated, some kernels lose a timer while they bring up their processors (seen with 6.12.118,
    /// in one boot of a hundred), and nothing that waits for it ever goes on.
    private Machines.Live boot(Path built, VmFiles files, Vm vm, Machines machines)
            throws IOException {
        lay(built, files, vm);
        try {
            return machines.boot(vm, UUID.randomUUID(), _ -> {}, Deadline.in(FIRST_BOOT));
        } catch (Failure e) {
            if (e.code() != Code.VM_START_TIMEOUT) {
                throw e;
            }
            LOG.warn("the image is booted again: {}", e.getMessage());
        }
        machines.delete(vm.id());
        lay(built, files, vm);
        return machines.boot(vm, UUID.randomUUID(), _ -> {}, Deadline.in(BOOT));
    }

    /// Copies a capture to another file system, whole or not at all; holes stay holes.
    public static void copySparse(Path capture, Path target) {
        var unfinished = Published.unfinished(target);
        Published.delete(unfinished);
        copyFiles(capture, unfinished);
        Published.directory(unfinished, target);
    }

    /// As [#copySparse], into a directory that the caller publishes.
    public static void copyFiles(Path capture, Path directory) {
        Command.of(
                        "cp",
                        "-r",
                        "--sparse=always",
                        "--preserve=mode",
                        capture.toString(),
                        directory.toString())
                .runOrFail(Deadline.in(Duration.ofMinutes(10)));
    }

    /// The id of the snapshot that a base capture becomes: the same on every host that has this very capture.
    public static SnapshotId idOf(Path capture) {
        var digits =
                new java.math.BigInteger(1, sha256(Capture.read(capture).generation().toString()))
                        .toString(36);
        return new SnapshotId("sh-" + digits.substring(digits.length() - 20));
    }

    private static byte[] sha256(String text) {
        try {
            return java.security.MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void lay(Path built, VmFiles files, Vm vm) throws IOException {
        var onVolume = workshop.resolve("built");
        Published.delete(onVolume);
        copyFiles(built, onVolume);
        files.make(vm.id(), user, onVolume);
        reflink.copy(onVolume.resolve(Capture.DISK), files.of(vm.id()).disk());
        QemuLauncher.own(files.of(vm.id()).disk(), user, "rw-------");
        Files.createDirectories(files.of(vm.id()).run());
    }

    private static void settle(Machines.Live live) {
        var command =
                new Exec(
                        new ExecId(UUID.randomUUID()),
                        SETTLE_COMMAND,
                        Optional.of("root"),
                        Map.of(),
                        new byte[0],
                        SETTLE,
                        65536,
                        Optional.empty());
        var deadline = Deadline.in(SETTLE.plusSeconds(30));
        var outcome = live.line().guest(deadline).exec(command, deadline);
        if (!(outcome instanceof ExecOutcome.Exited(var status, var output)) || status != 0) {
            throw new Failure(Code.UNAVAILABLE, "the image did not settle: " + outcome);
        }
        var text = new String(output.stdout(), java.nio.charset.StandardCharsets.UTF_8).strip();
        if (!text.isEmpty() && !text.equals("running")) {
            throw new Failure(Code.UNAVAILABLE, "the image started with failed services: " + text);
        }
    }

    private Vm describe(MachineShape shape, Size storage) {
        var now = java.time.Instant.now();
        return new Vm(
                VmId.random(),
                AccountId.random(),
                new VmState.Creating(now),
                new Vm.Settings(Optional.empty(), Optional.empty(), Timers.NONE, false, Map.of()),
                new Vm.Hardware(
                        new Resources(shape.cpus(), shape.totalMemory(), storage), shape, user),
                new Vm.Origin(SnapshotId.random(), Optional.empty(), Placement.ANYWHERE),
                Duration.ZERO,
                now,
                now);
    }
}
