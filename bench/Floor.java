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
import coppice.qemu.MachineFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/// The floor: a VM by hand. The steps that QEMU needs, and none of the server's: no user of its own, no control group, no records,
/// no checksums, nothing synced to disk.
final class Floor implements AutoCloseable {
    private static final String NAME = "bench-floor";
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private final MachineFiles files;
    private final Reflink reflink;
    private Optional<Running> running = Optional.empty();

    private record Running(Process qemu, Qmp qmp, Guest guest) {}

    /// @param directory of the machine, on the volume
    Floor(Path directory, Reflink reflink) {
        this.files = new MachineFiles(directory);
        this.reflink = reflink;
    }

    /// Makes the directory. A machine that was closed can be made again.
    void make() throws IOException {
        Files.createDirectories(files.run());
    }

    /// The command line that the server started a VM with, for this machine.
    List<String> commandOf(Path vmDirectory) throws IOException {
        var vm = vmDirectory.getFileName().toString();
        try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (var process : processes) {
                var words = words(process);
                int name = words.indexOf("-name");
                if (name > 0 && words.get(name + 1).equals(vm)) {
                    return words.stream()
                            .map(
                                    word ->
                                            word.replace(
                                                    vmDirectory.toString(),
                                                    files.directory().toString()))
                            .map(word -> word.equals(vm) ? NAME : word)
                            .toList();
                }
            }
        }
        throw new IOException(vm + " has no QEMU");
    }

    private static List<String> words(Path process) {
        try {
            var line = Files.readAllBytes(process.resolve("cmdline"));
            return List.of(new String(line, StandardCharsets.UTF_8).split("\0"));
        } catch (IOException e) {
            return List.of(); // it has just ended
        }
    }

    /// Starts from a capture: a copy with a new identity, or the same machine as before.
    void restore(List<String> command, Path capture, boolean isCopy) throws Exception {
        Files.deleteIfExists(files.ram());
        Files.createLink(files.ram(), capture.resolve("ram"));
        replace(capture.resolve("devices"), files.devices());
        replace(capture.resolve("disk.raw"), files.disk());
        var qemu = spawn(command);
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

    private Process spawn(List<String> command) throws IOException {
        Files.deleteIfExists(files.qmp());
        Files.deleteIfExists(files.agent());
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(files.log().toFile()))
                .start();
    }

    private void goOn(Process qemu, Qmp qmp, boolean isCopy) throws Exception {
        qmp.ask("{\"execute\":\"cont\"}");
        var identity =
                isCopy
                        ? Optional.of(
                                new Identity(NAME, HexFormat.of().formatHex(RandomText.bytes(16))))
                        : Optional.<Identity>empty();
        var hello =
                new Hello(
                        new Generation(UUID.randomUUID()),
                        InstantSource.system(),
                        RandomText.bytes(64),
                        identity);
        var channel = Qmp.open(files.agent(), qemu);
        switch (Guest.connect(NAME, channel, hello, Deadline.in(PATIENCE))) {
            case Greeting.Welcomed(var guest) ->
                    running = Optional.of(new Running(qemu, qmp, guest));
            case Greeting.Refused(_, var message) -> throw new IOException("refused: " + message);
        }
    }

    void exec(String command) throws IOException {
        var exec =
                new Exec(
                        new ExecId(UUID.randomUUID()),
                        command,
                        Optional.empty(),
                        Map.of(),
                        new byte[0],
                        Duration.ofSeconds(30),
                        4 << 20,
                        Optional.empty());
        var outcome = machine().guest().exec(exec, Deadline.in(PATIENCE));
        if (!(outcome instanceof ExecOutcome.Exited(int status, _) && status == 0)) {
            throw new IOException("'%s' failed: %s".formatted(command, outcome));
        }
    }

    /// Captures the machine into `capture`, which is made, and ends it.
    void pause(Path capture) throws Exception {
        var machine = machine();
        machine.guest().close();
        Files.createDirectories(capture);
        reflink.copy(files.ram(), capture.resolve("ram"));
        machine.qmp().ask("{\"execute\":\"stop\"}");
        machine.qmp()
                .ask(
                        "{\"execute\":\"xen-save-devices-state\",\"arguments\":{\"filename\":\"%s\",\"live\":false}}",
                        files.devices());
        reflink.copy(files.disk(), capture.resolve("disk.raw"));
        reflink.copy(files.devices(), capture.resolve("devices"));
        OwnPages.copy(machine.qemu().pid(), files.ram(), capture.resolve("ram"));
        machine.qmp().ask("{\"execute\":\"quit\"}");
        machine.qemu().waitFor();
        machine.qmp().close();
        running = Optional.empty();
    }

    /// Powers the machine off.
    void powerOff() throws Exception {
        var machine = machine();
        machine.guest().shutdown(Deadline.in(PATIENCE));
        if (!machine.qemu().waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new IOException("the machine does not power off");
        }
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
            machine.qemu().destroyForcibly().onExit().join();
            running = Optional.empty();
        }
        Published.delete(files.directory());
    }
}
