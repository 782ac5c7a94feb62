import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A libvirt of our own: a session daemon of a user without rights, with all its files in one directory. It needs no system bus, no control
/// group and no network, and nothing of the machine's configuration counts. It has a process namespace of its own, whose first process is
/// a shell that waits for orphans at once: libvirt waits until a QEMU that it has ended is gone, and some systems' init takes seconds.
final class Libvirt implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final String USER = "nobody";

    private final Path directory;
    private final Process daemon;

    /// @param directory is made; its path is in the names of sockets and must be short
    Libvirt(Path directory) throws Exception {
        this.directory = directory;
        var settings = directory.resolve("libvirt/qemu.conf");
        Files.createDirectories(settings.getParent());
        Files.writeString(settings, "stdio_handler = \"file\"\n");
        give(directory, settings.getParent(), settings);
        daemon =
                new ProcessBuilder(inNamespace(asUser("libvirtd")))
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("log").toFile())
                        .start();
        var deadline = Deadline.in(Duration.ofSeconds(60));
        while (new Command(virsh("version")).run(deadline).status() != 0) {
            if (!daemon.isAlive() || deadline.isPast()) {
                throw new IOException(
                        "libvirt did not start: " + Files.readString(directory.resolve("log")));
            }
            Thread.sleep(100);
        }
    }

    /// Lets its machines use files.
    static void give(Path... files) throws IOException {
        var users = files[0].getFileSystem().getUserPrincipalLookupService();
        for (var file : files) {
            Files.setOwner(file, users.lookupPrincipalByName(USER));
            Files.setPosixFilePermissions(
                    file,
                    PosixFilePermissions.fromString(
                            Files.isDirectory(file) ? "rwx------" : "rw-------"));
        }
    }

    /// Does something to a machine, and returns when it is done.
    void run(String... words) {
        new Command(virsh(words)).runOrFail(Deadline.in(PATIENCE));
    }

    private List<String> virsh(String... words) {
        var line = new ArrayList<>(asUser("virsh", "-c", "qemu:///session"));
        line.addAll(List.of(words));
        return line;
    }

    /// All of it ends with the daemon, or when this program does.
    private static List<String> inNamespace(List<String> words) {
        var line = new ArrayList<>(List.of("unshare", "--pid", "--fork", "--kill-child"));
        line.addAll(List.of("--mount-proc", "sh", "-c", "\"$@\" & wait", "sh"));
        line.addAll(words);
        return line;
    }

    private List<String> asUser(String... words) {
        var line = new ArrayList<>(List.of("env", "-i", "PATH=" + System.getenv("PATH")));
        for (var variable :
                List.of(
                        "HOME",
                        "XDG_RUNTIME_DIR",
                        "XDG_CONFIG_HOME",
                        "XDG_CACHE_HOME",
                        "XDG_DATA_HOME")) {
            line.add(variable + "=" + directory);
        }
        line.addAll(List.of("setpriv", "--reuid", USER, "--regid", "nogroup", "--clear-groups"));
        line.addAll(List.of(words));
        return line;
    }

    @Override
    public void close() {
        daemon.descendants().forEach(ProcessHandle::destroyForcibly);
        daemon.onExit().join();
    }
}
