import coppice.base.Deadline;
import coppice.base.RandomText;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.guest.Exec;
import coppice.guest.ExecId;
import coppice.guest.ExecOutcome;
import coppice.guest.Generation;
import coppice.guest.Greeting;
import coppice.guest.Guest;
import coppice.guest.Hello;
import coppice.guest.Identity;
import coppice.guest.NetworkSettings;
import coppice.qemu.MachineFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/// The floor: a VM by hand. The steps that QEMU needs, and none of the server's: no user of its own, no control group, no records,
/// no checksums, nothing synced to disk.
final class Floor implements AutoCloseable {
    static final String NAME = "bench-floor";
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final String APART =
            "log=$1; shift; setsid \"$@\" </dev/null >>\"$log\" 2>&1 & echo $!";

    private final MachineFiles files;
    private final Reflink reflink;
    private final Wire wire;
    private Optional<Running> running = Optional.empty();

    private record Running(ProcessHandle qemu, Qmp qmp, Guest guest) {}

    /// @param directory of the machine, on the volume
    Floor(Path directory, Reflink reflink, Wire wire) {
        this.files = new MachineFiles(directory);
        this.reflink = reflink;
        this.wire = wire;
    }

    /// Makes the directory and the tap. A machine that was closed can be made again.
    void make() throws IOException {
        Files.createDirectories(files.run());
        wire.make();
    }

    /// The words by which such a machine of the server is started, whose files are in `directory`.
    List<String> command(RunningQemu like, Path directory) {
        return wire.namespace()
                .inside(like.commandFor(NAME, directory, files.directory(), wire.tap()));
    }

    Wire wire() {
        return wire;
    }

    MachineFiles files() {
        return files;
    }

    long pid() {
        return machine().qemu().pid();
    }

    Qmp qmp() {
        return machine().qmp();
    }

    /// Starts from a capture: a copy with a new identity, or the same machine as before.
    void restore(List<String> command, Path capture, boolean isCopy) throws Exception {
        link(capture);
        replace(capture.resolve("devices"), files.devices());
        replace(capture.resolve("disk.raw"), files.disk());
        load(spawn(command), isCopy);
    }

    /// Starts a copy whose QEMU is no child of this program: a child that is traced would count as ended, see [FloorCapture].
    void restoreApart(List<String> command, Path capture) throws Exception {
        var apart = new ArrayList<>(List.of("sh", "-c", APART, "sh", files.log().toString()));
        apart.addAll(command);
        link(capture);
        replace(capture.resolve("devices"), files.devices());
        replace(capture.resolve("disk.raw"), files.disk());
        try (var output = new ProcessBuilder(apart).start().inputReader()) {
            load(ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow(), true);
        }
    }

    /// Starts a copy from a capture whose disk is complete and whose memory image is still being written, and lets it go on when it is.
    void restoreUnfinished(List<String> command, Path capture, Future<?> complete)
            throws Exception {
        link(capture);
        replace(capture.resolve("disk.raw"), files.disk());
        var qemu = spawn(command);
        complete.get();
        replace(capture.resolve("devices"), files.devices());
        load(qemu, true);
    }

    private void link(Path capture) throws IOException {
        Files.deleteIfExists(files.ram());
        Files.createLink(files.ram(), capture.resolve("ram"));
    }

    private void load(ProcessHandle qemu, boolean isCopy) throws Exception {
        var qmp = Qmp.connect(files.qmp(), qemu);
        qmp.ask(
                "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"file:%s\"}}",
                files.devices());
        while (qmp.status().equals("inmigrate")) {
            Thread.sleep(1);
        }
        goOn(qemu, qmp, isCopy);
    }

    /// Boots from the disk, with blank memory.
    ///
    /// @param memory in MiB
    void boot(List<String> command, long memory) throws Exception {
        Files.deleteIfExists(files.ram());
        try (var ram = new RandomAccessFile(files.ram().toFile(), "rw")) {
            ram.setLength(memory << 20);
        }
        var qemu = spawn(command);
        goOn(qemu, Qmp.connect(files.qmp(), qemu), false);
    }

    /// Lays the disk and kernel of a capture, for a boot.
    void lay(Path capture) throws IOException {
        for (var name : List.of("disk.raw", "vmlinuz", "initrd")) {
            replace(capture.resolve(name), files.directory().resolve(name));
        }
    }

    private void replace(Path from, Path to) throws IOException {
        Files.deleteIfExists(to);
        reflink.copy(from, to);
    }

    private ProcessHandle spawn(List<String> command) throws IOException {
        Files.deleteIfExists(files.qmp());
        Files.deleteIfExists(files.agent());
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(files.log().toFile()))
                .start()
                .toHandle();
    }

    private void goOn(ProcessHandle qemu, Qmp qmp, boolean isCopy) throws Exception {
        qmp.ask("{\"execute\":\"cont\"}");
        running = Optional.of(new Running(qemu, qmp, greet(NAME, files.agent(), qemu, isCopy)));
    }

    /// Connects to the agent of a VM that has just gone on.
    static Guest greet(String name, Path agent, ProcessHandle qemu, boolean isCopy)
            throws Exception {
        var identity =
                isCopy
                        ? Optional.of(
                                new Identity(name, HexFormat.of().formatHex(RandomText.bytes(16))))
                        : Optional.<Identity>empty();
        var hello =
                new Hello(
                        new Generation(UUID.randomUUID()),
                        InstantSource.system(),
                        RandomText.bytes(64),
                        identity);
        return switch (Guest.connect(name, Qmp.open(agent, qemu), hello, Deadline.in(PATIENCE))) {
            case Greeting.Welcomed(var guest) -> guest;
            case Greeting.Refused(_, var message) -> throw new IOException("refused: " + message);
        };
    }

    void exec(String command) throws IOException {
        exec(machine().guest(), command);
    }

    static void exec(Guest guest, String command) throws IOException {
        output(guest, command, new byte[0]);
    }

    /// Runs a command and returns what it printed.
    ///
    /// @param input that it reads
    String output(String command, byte[] input) throws IOException {
        return output(machine().guest(), command, input);
    }

    /// Sets its interface up.
    void join(NetworkSettings settings) {
        machine().guest().setNetwork(settings, Deadline.in(PATIENCE));
    }

    private static String output(Guest guest, String command, byte[] input) throws IOException {
        var exec =
                new Exec(
                        new ExecId(UUID.randomUUID()),
                        command,
                        Optional.empty(),
                        Map.of(),
                        input,
                        PATIENCE,
                        4 << 20,
                        Optional.empty());
        var outcome = guest.exec(exec, Deadline.in(PATIENCE));
        if (outcome instanceof ExecOutcome.Exited(int status, var output) && status == 0) {
            return new String(output.stdout(), StandardCharsets.UTF_8);
        }
        throw new IOException("'%s' failed: %s".formatted(command, outcome));
    }

    /// Captures the machine into `capture`, which is made, and ends it.
    void pause(Path capture) throws Exception {
        var machine = machine();
        machine.guest().close();
        Files.createDirectories(capture);
        reflink.copy(files.ram(), capture.resolve("ram"));
        machine.qmp().ask("{\"execute\":\"stop\"}");
        saveDevices();
        reflink.copy(files.disk(), capture.resolve("disk.raw"));
        reflink.copy(files.devices(), capture.resolve("devices"));
        OwnPages.copy(machine.qemu().pid(), files.ram(), capture.resolve("ram"));
        machine.qmp().ask("{\"execute\":\"quit\"}");
        machine.qemu().onExit().join();
        machine.qmp().close();
        running = Optional.empty();
    }

    /// Writes the state of the devices of a machine that is stopped.
    void saveDevices() throws IOException {
        qmp().ask(
                        "{\"execute\":\"xen-save-devices-state\",\"arguments\":{\"filename\":\"%s\",\"live\":false}}",
                        files.devices());
    }

    /// Lets another one use the control socket, which serves one at a time.
    void lendControl(Step user) throws Exception {
        var machine = machine();
        machine.qmp().close();
        user.run();
        running =
                Optional.of(
                        new Running(
                                machine.qemu(),
                                Qmp.connect(files.qmp(), machine.qemu()),
                                machine.guest()));
    }

    /// Powers the machine off.
    void powerOff() throws Exception {
        var machine = machine();
        machine.guest().shutdown(Deadline.in(PATIENCE));
        machine.qemu().onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        machine.guest().close();
        machine.qmp().close();
        running = Optional.empty();
    }

    private Running machine() {
        return running.orElseThrow();
    }

    /// Cuts the machine and removes its files.
    @Override
    public void close() throws IOException {
        if (running.isPresent()) {
            var machine = machine();
            machine.guest().close();
            machine.qmp().close();
            machine.qemu().destroyForcibly();
            machine.qemu().onExit().join();
            running = Optional.empty();
        }
        wire.remove();
        Published.delete(files.directory());
    }
}
