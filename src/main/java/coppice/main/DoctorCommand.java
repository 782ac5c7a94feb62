package coppice.main;

import coppice.base.Failure;
import coppice.disk.Reflink;
import coppice.fabric.HostNetwork;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import coppice.vm.Strangers;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;

/// Looks at this machine and says what is wrong, and what to do about it. Changes nothing.
@CommandLine.Command(
        name = "doctor",
        description = {
            "Check this machine and what Coppice has on it.",
            "Exit status 0: all is well; 7: something needs attention."
        },
        mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
    private static final int NEEDS_ATTENTION = 7;

    private boolean isWell = true;

    @Override
    public Integer call() {
        var settings = Environment.settings();
        check("user", () -> requireRoot());
        check(
                "hypervisor",
                () -> {
                    var found = Hypervisor.find();
                    return "QEMU %s, %s"
                            .formatted(
                                    found.version(),
                                    found.accelerator().equals("kvm")
                                            ? "KVM"
                                            : "no usable KVM: guests are emulated (TCG), which is slow");
                });
        check("network", HostNetwork::describe);
        check("memory", () -> memory());
        check("data", () -> data(settings));
        for (var image : settings.images()) {
            check("image " + image, () -> image(settings, image));
        }
        check("server", () -> server(settings));
        check("orphans", () -> orphans(settings));
        return isWell ? 0 : NEEDS_ATTENTION;
    }

    private void check(String what, Supplier<String> look) {
        try {
            System.out.printf("%-16s ok    %s%n", what, look.get());
        } catch (Failure | IllegalStateException e) {
            isWell = false;
            System.out.printf("%-16s WRONG %s%n", what, e.getMessage());
        }
    }

    private static String requireRoot() {
        if (!System.getProperty("user.name").equals("root")) {
            throw new IllegalStateException(
                    "Coppice needs root: it starts QEMU under other users and mounts its data volume");
        }
        return "root";
    }

    private static String memory() {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return String.join(
                    ", ", lines.limit(3).map(line -> line.replaceAll(" +", " ")).toList());
        } catch (IOException e) {
            throw new IllegalStateException("/proc/meminfo cannot be read", e);
        }
    }

    private static String data(Settings settings) {
        var volume = settings.dataDirectory().resolve("volume");
        if (!Files.isDirectory(volume.resolve("vms"))) {
            throw new IllegalStateException(
                    "%s is not prepared or not mounted; run './coppice up'".formatted(volume));
        }
        try {
            long free = Files.getFileStore(volume).getUsableSpace() >> 20;
            if (free < settings.capacity().diskReserve().mib()) {
                throw new IllegalStateException(
                        "%s has only %d MiB free; delete VMs or snapshots".formatted(volume, free));
            }
            return "%s, %d MiB free".formatted(volume, free);
        } catch (IOException e) {
            throw new IllegalStateException("%s cannot be read".formatted(volume), e);
        }
    }

    private static String image(Settings settings, String image) {
        return new Images(Environment.home(), settings, Hypervisor.find())
                .find(image)
                .map(Path::toString)
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        "not built; run './coppice image build " + image + "'"));
    }

    private static String server(Settings settings) {
        try (var socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(settings.httpAddress(), settings.httpPort()), 1000);
            return "listens on %s:%d".formatted(settings.httpAddress(), settings.httpPort());
        } catch (IOException e) {
            throw new IllegalStateException(
                    "nothing listens on %s:%d; run './coppice up'"
                            .formatted(settings.httpAddress(), settings.httpPort()));
        }
    }

    private static String orphans(Settings settings) {
        var data = settings.dataDirectory();
        if (!Files.exists(data.resolve("coppice.db"))) {
            return "none: nothing was ever started";
        }
        var launcher = new QemuLauncher(Hypervisor.find(), DataLock.instance(data));
        try (var reflink = new Reflink();
                var store = Store.open(data.resolve("coppice.db"))) {
            var found =
                    new Strangers(store, data.resolve("volume"), reflink, launcher)
                            .find(DataLock.isTaken(data));
            if (!found.isEmpty()) {
                throw new IllegalStateException(
                        "%s; a restart of the server removes them"
                                .formatted(String.join("; ", found)));
            }
            return "none";
        }
    }
}
