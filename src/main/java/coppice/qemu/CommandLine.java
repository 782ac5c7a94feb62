package coppice.qemu;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The arguments of QEMU: a pure function of what is to run, compared with golden files in the tests.
///
/// The machine type is a fixed version, so that a newer QEMU still builds the same machine. Guest RAM is an image that is
/// opened read-only and mapped privately (`share=off,readonly=on,rom=off`, QEMU >= 8.2): the guest writes to its own pages, never to
/// the image under other guests. All processors that a guest may ever have are there from the start, since Linux takes an emulated machine
/// for a physical one and does not let processors be added to it; it brings up as many as it is told and the agent brings up more.
public final class CommandLine {
    /// The name by which the guest finds the agent's port.
    public static final String AGENT_PORT = "coppice.agent.0";

    private static final String MACHINE =
            "pc-q35-8.2,memory-backend=ram,suppress-vmdesc=on,vmport=off,sata=off,smbus=off";
    private static final String SANDBOX =
            "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";
    private static final int CONSOLE_BYTES = 65536;

    /// Where a QEMU that uses KVM finds /dev/kvm open: its own user need not be able to open it.
    static final int KVM_DESCRIPTOR = 9;

    /// How a machine comes to life.
    public enum Start {
        /// From its disk, through its kernel.
        BOOT,
        /// From captured memory and device state.
        RESTORE
    }

    private CommandLine() {}

    /// Differs for machines that cannot restore each other's captures.
    public static String fingerprint(MachineShape shape, Hypervisor hypervisor) {
        var nowhere = Optional.of(new Link(Path.of("/"), "tap", "02:00:00:00:00:01"));
        return String.join(
                " ",
                of(
                        "",
                        shape,
                        hypervisor,
                        new MachineFiles(Path.of("/")),
                        nowhere,
                        Start.RESTORE,
                        ""));
    }

    static List<String> of(
            String name,
            MachineShape shape,
            Hypervisor hypervisor,
            MachineFiles files,
            Optional<Link> link,
            Start start,
            String kernelCommandLine) {
        var line = new ArrayList<String>();
        line.addAll(
                List.of(
                        Hypervisor.PROGRAM,
                        "-name",
                        name,
                        "-nodefaults",
                        "-no-user-config",
                        "-display",
                        "none"));
        line.addAll(List.of("-sandbox", SANDBOX, "-S"));
        line.addAll(List.of("-machine", MACHINE));
        line.addAll(
                hypervisor.isKvm()
                        ? List.of(
                                "-add-fd",
                                "fd=%d,set=1".formatted(KVM_DESCRIPTOR),
                                "-accel",
                                "kvm,device=/dev/fdset/1",
                                "-cpu",
                                "host")
                        : List.of("-accel", "tcg,thread=multi", "-cpu", hypervisor.processor()));
        addProcessorsAndMemory(line, shape, files);
        addDevices(line, files);
        if (shape.hasNic()) {
            addNic(line, link.orElseThrow());
        }
        // A guest that reboots ends this process: a restored machine has no kernel to reboot into.
        // The server boots it anew.
        line.addAll(List.of("-action", "reboot=shutdown"));
        addStart(line, shape, files, start, kernelCommandLine);
        return List.copyOf(line);
    }

    private static void addProcessorsAndMemory(
            List<String> line, MachineShape shape, MachineFiles files) {
        line.addAll(List.of("-smp", Integer.toString(shape.maxCpus())));
        boolean grows = shape.maxMemory().compareTo(shape.memory()) > 0;
        line.addAll(
                List.of(
                        "-m",
                        grows
                                ? "size=%dM,slots=%d,maxmem=%dM"
                                        .formatted(
                                                shape.memory().mib(),
                                                MachineShape.MEMORY_SLOTS,
                                                shape.maxMemory().mib())
                                : "size=%dM".formatted(shape.memory().mib())));
        line.addAll(List.of("-object", memory("ram", shape.memory().bytes(), files.ram(), 0)));
        for (int i = 0; i < shape.addedMemory().size(); i++) {
            line.addAll(
                    List.of(
                            "-object",
                            memory(
                                    "module" + i,
                                    shape.addedMemory().get(i).bytes(),
                                    files.ram(),
                                    shape.offsetOfModule(i).bytes()),
                            "-device",
                            "pc-dimm,id=dimm%d,memdev=module%d".formatted(i, i)));
        }
    }

    private static String memory(String id, long bytes, Path image, long offset) {
        return "memory-backend-file,id=%s,size=%d,mem-path=%s,offset=%d,share=off,readonly=on,rom=off"
                .formatted(id, bytes, escaped(image), offset);
    }

    /// A path as part of an option, where commas separate.
    private static String escaped(Path path) {
        return path.toString().replace(",", ",,");
    }

    private static void addDevices(List<String> line, MachineFiles files) {
        line.addAll(
                List.of(
                        "-chardev",
                        "ringbuf,id=console,size="
                                + CONSOLE_BYTES, // bounded: a guest cannot fill the host's disk by
                        // talking
                        "-serial",
                        "chardev:console",
                        "-qmp",
                        "unix:%s,server=on,wait=off".formatted(escaped(files.qmp())),
                        "-chardev",
                        "socket,id=agent,path=%s,server=on,wait=off"
                                .formatted(escaped(files.agent())),
                        "-device",
                        "virtio-serial-pci,id=serial",
                        "-device",
                        "virtserialport,bus=serial.0,chardev=agent,name=" + AGENT_PORT,
                        "-blockdev",
                        "driver=file,node-name=file,filename=%s,discard=unmap,aio=threads"
                                .formatted(escaped(files.disk())),
                        "-blockdev",
                        "driver=raw,node-name=disk,file=file,discard=unmap,detect-zeroes=unmap",
                        "-device",
                        "virtio-blk-pci,drive=disk",
                        "-device",
                        "virtio-rng-pci",
                        "-device",
                        "vmgenid,guid=auto"));
    }

    /// Its ROM would be for booting from the network.
    private static void addNic(List<String> line, Link link) {
        line.addAll(
                List.of(
                        "-netdev",
                        "tap,id=net,ifname=%s,script=no,downscript=no".formatted(link.tap()),
                        "-device",
                        "virtio-net-pci,netdev=net,mac=%s,romfile=".formatted(link.mac())));
    }

    private static void addStart(
            List<String> line,
            MachineShape shape,
            MachineFiles files,
            Start start,
            String kernelCommandLine) {
        switch (start) {
            case BOOT ->
                    line.addAll(
                            List.of(
                                    "-kernel",
                                    files.kernel().toString(),
                                    "-initrd",
                                    files.initrd().toString(),
                                    "-append",
                                    kernelCommandLine + " maxcpus=" + shape.cpus()));
            case RESTORE ->
                    line.addAll(
                            List.of(
                                    "-incoming",
                                    "defer",
                                    "-global",
                                    "migration.send-configuration=off"));
        }
    }
}
