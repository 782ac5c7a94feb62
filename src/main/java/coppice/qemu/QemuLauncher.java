package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Undo;
import coppice.process.ControlGroup;
import coppice.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Starts QEMU processes and adopts those that are there.
///
/// The process is started through `setsid` (a signal to the server's terminal must not reach guests), is no child of the server (which
/// traces it, see [coppice.process.Tracee]), joins its control group before its guest's first instruction, and gives up root through
/// `setpriv` before QEMU's. The directory with its sockets belongs to root as soon as they exist: a QEMU that its guest has taken over
/// cannot put other sockets in their place and have the server talk to them.
public final class QemuLauncher {
    /// What QEMU needs beyond the guest's memory: translated code, device buffers, threads.
    private static final Size OVERHEAD = Size.ofMib(1536);

    private static final String DETACH =
            "log=$1; shift; ulimit -c 0; setsid \"$@\" </dev/null >>\"$log\" 2>&1 & echo $!";

    /// Entering a control group waits for a grace period of the kernel, some 15 ms. QEMU starts meanwhile. By a grandchild, since QEMU
    /// waits for no child. What cannot enter ends.
    private static final String ENTER =
            """
            n=$1; shift
            ( (while [ "$n" -gt 0 ]; do echo $$ > "$1" || kill -9 $$; shift; n=$((n - 1)); done) 2>/dev/null & )
            shift "$n"
            %s
            exec "$@"
            """;

    private static final String OPEN_KVM = "exec %d<>/dev/kvm";

    private final Hypervisor hypervisor;
    private final String instance;

    /// What is to be started.
    ///
    /// @param name of the VM: process name and name of the control group
    /// @param user number of the user and group it runs as, used by no other VM
    /// @param link of its network interface, if its shape has one; one that is adopted needs none
    public record Machine(
            String name, MachineShape shape, MachineFiles files, int user, Optional<Link> link) {}

    /// @param instance names the data directory, so that servers on one machine do not take each other's VMs for their own
    public QemuLauncher(Hypervisor hypervisor, String instance) {
        this.hypervisor = hypervisor;
        this.instance = instance;
    }

    /// Names the data directory.
    public String instance() {
        return instance;
    }

    public Hypervisor hypervisor() {
        return hypervisor;
    }

    /// Starts a machine from its disk. It is frozen until [Qemu#resume].
    public Qemu boot(Machine machine, Consumer<Exit> onExit, Deadline deadline) {
        return start(machine, CommandLine.Start.BOOT, onExit, deadline);
    }

    /// Starts a machine that waits for the device state that it is to go on from, see [Qemu#load]. Its memory image may be written until
    /// then.
    public Qemu expect(Machine machine, Consumer<Exit> onExit, Deadline deadline) {
        return start(machine, CommandLine.Start.RESTORE, onExit, deadline);
    }

    /// Takes over a process that a former server started, if it is still the same one.
    public Optional<Qemu> adopt(
            Machine machine, ProcessId process, Consumer<Exit> onExit, Deadline deadline) {
        if (!process.isAlive()) {
            return Optional.empty();
        }
        return Optional.of(
                new Qemu(
                        machine.name(),
                        process,
                        machine.files(),
                        group(machine.name()),
                        onExit,
                        deadline));
    }

    /// Gives what runs under a name the time of so many processors.
    public void limitCpus(String name, int cpus) {
        group(name).limitCpus(cpus);
    }

    /// Ends whatever runs under a name and removes its control group.
    public void sweep(String name) {
        group(name).delete();
    }

    /// The names under which something may be running.
    public List<String> names() {
        return ControlGroup.names(instance);
    }

    public List<ProcessId> processes(String name) {
        return group(name).processes();
    }

    private ControlGroup group(String name) {
        return ControlGroup.of(instance, name);
    }

    private Qemu start(
            Machine machine, CommandLine.Start start, Consumer<Exit> onExit, Deadline deadline) {
        var group = group(machine.name());
        try {
            prepareRunDirectory(machine, start);
            // Twice: while a twin is there, what the guest changes is there in both versions.
            var most = machine.shape().maxMemory().plus(machine.shape().maxMemory());
            group.create(most.plus(OVERHEAD), machine.shape().cpus());
            return connect(machine, spawn(machine, start, group), group, onExit, deadline);
        } catch (IOException | Failure e) {
            group.delete();
            var code = e instanceof Failure failure ? failure.code() : Code.UNAVAILABLE;
            throw new Failure(
                    code,
                    "%s could not be started: %s".formatted(machine.name(), reason(e, machine)),
                    e);
        }
    }

    private static Qemu connect(
            Machine machine,
            ProcessId process,
            ControlGroup group,
            Consumer<Exit> onExit,
            Deadline deadline)
            throws IOException {
        try (var undo = new Undo()) {
            undo.onFailure(process::kill);
            var qemu = new Qemu(machine.name(), process, machine.files(), group, onExit, deadline);
            awaitEntered(group, process, deadline);
            closeRunDirectory(machine);
            undo.keep();
            return qemu;
        }
    }

    /// It has long entered when it listens, as a rule.
    private static void awaitEntered(ControlGroup group, ProcessId process, Deadline deadline) {
        while (!group.holds(process)) {
            if (!process.isAlive()) {
                throw ended("the QEMU ended before it was in its control group");
            }
            if (deadline.isPast()) {
                throw new Failure(
                        Code.VM_START_TIMEOUT, "the QEMU did not get into its control group");
            }
            Thread.onSpinWait();
        }
    }

    private ProcessId spawn(Machine machine, CommandLine.Start start, ControlGroup group)
            throws IOException {
        var line =
                new ArrayList<String>(
                        List.of("sh", "-c", DETACH, "sh", machine.files().log().toString()));
        machine.link()
                .ifPresent(link -> line.addAll(List.of("nsenter", "--net=" + link.namespace())));
        line.addAll(entering(group));
        line.addAll(asUser(machine.user()));
        var kernel =
                start == CommandLine.Start.BOOT
                        ? Files.readString(machine.files().kernelCommandLine()).strip()
                        : "";
        line.addAll(
                CommandLine.of(
                        machine.name(),
                        machine.shape(),
                        hypervisor,
                        machine.files(),
                        machine.link(),
                        start,
                        kernel));
        var builder =
                new ProcessBuilder(line)
                        .directory(new java.io.File("/"))
                        .redirectInput(new java.io.File("/dev/null"))
                        .redirectErrorStream(true);
        builder.environment().keySet().retainAll(List.of("PATH"));
        try (var output = builder.start().inputReader()) {
            return Optional.ofNullable(output.readLine())
                    .map(Long::valueOf)
                    .flatMap(ProcessId::of)
                    .orElseThrow(() -> ended("the QEMU ended at once"));
        }
    }

    private static Failure ended(String when) {
        return new Failure(Code.UNAVAILABLE, when, new MachineEnded(Exit.CRASHED, null));
    }

    private List<String> entering(ControlGroup group) {
        var enter =
                ENTER.formatted(
                        hypervisor.isKvm() ? OPEN_KVM.formatted(CommandLine.KVM_DESCRIPTOR) : "");
        var entrances = group.entrances();
        var line = new ArrayList<>(List.of("sh", "-c", enter, "coppice-vm"));
        line.add(Integer.toString(entrances.size()));
        entrances.forEach(entrance -> line.add(entrance.toString()));
        return line;
    }

    private static List<String> asUser(int number) {
        var user = Integer.toString(number);
        return List.of(
                "setpriv",
                "--reuid",
                user,
                "--regid",
                user,
                "--clear-groups",
                "--no-new-privs",
                "--");
    }

    private static void prepareRunDirectory(Machine machine, CommandLine.Start start)
            throws IOException {
        var run = machine.files().run();
        Files.createDirectories(run);
        own(run, machine.user(), "rwx------");
        Files.deleteIfExists(machine.files().qmp());
        Files.deleteIfExists(machine.files().agent());
        if (start == CommandLine.Start.BOOT) {
            Files.deleteIfExists(machine.files().devices());
            Files.createFile(machine.files().devices());
        }
        own(machine.files().devices(), machine.user(), "rw-------");
    }

    private static void closeRunDirectory(Machine machine) throws IOException {
        own(machine.files().run(), 0, "rwx--x--x");
    }

    /// Gives a file to a VM's user.
    public static void own(Path path, int user, String permissions) throws IOException {
        Files.setAttribute(path, "unix:uid", user);
        Files.setAttribute(path, "unix:gid", user);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    private static String reason(Exception e, Machine machine) {
        try {
            var log = Files.readString(machine.files().log());
            return log.isBlank()
                    ? e.getMessage()
                    : log.substring(Math.max(0, log.length() - 500)).strip();
        } catch (IOException unreadable) {
            return e.getMessage();
        }
    }
}
