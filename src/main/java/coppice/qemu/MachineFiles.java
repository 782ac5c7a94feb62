package coppice.qemu;

import java.nio.file.Path;

/// The files of one machine, all in one directory that only the server and this machine's user can enter.
///
/// - `disk.raw` the block device, owned by the machine's user
/// - `ram` the memory image that the machine runs on: never written, mapped privately; a hard link, so that machines which run on
///   one image share the host's page cache
/// - `module-N` the zeros that a memory module added while running starts with
/// - `vmlinuz`, `initrd`, `command-line` for a cold boot
/// - `run/` sockets, log and the device state on its way in or out
public record MachineFiles(Path directory) {

    public Path disk() {
        return directory.resolve("disk.raw");
    }

    public Path ram() {
        return directory.resolve("ram");
    }

    public Path module(int index) {
        return directory.resolve("module-" + index);
    }

    public Path kernel() {
        return directory.resolve("vmlinuz");
    }

    public Path initrd() {
        return directory.resolve("initrd");
    }

    public Path kernelCommandLine() {
        return directory.resolve("command-line");
    }

    public Path run() {
        return directory.resolve("run");
    }

    public Path qmp() {
        return run().resolve("qmp");
    }

    public Path agent() {
        return run().resolve("agent");
    }

    public Path devices() {
        return run().resolve("devices");
    }

    public Path log() {
        return run().resolve("log");
    }
}
