import coppice.disk.Published;
import coppice.guest.Guest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// The peer: the same guest in libvirt, with the same kernel, disk and memory. What it calls `save` stops the guest, writes its whole
/// memory, and ends it; `restore` is how it goes on.
final class Peer implements Source {
    private static final String NAME = "bench-peer";
    private static final String MACHINE =
            """
            <domain type='qemu'>
              <name>%s</name>
              <memory unit='MiB'>%d</memory>
              <vcpu>1</vcpu>
              <os>
                <type arch='x86_64' machine='pc-q35-8.2'>hvm</type>
                <kernel>%s</kernel><initrd>%s</initrd><cmdline>%s</cmdline>
              </os>
              <features><acpi/><apic/></features>
              <cpu mode='maximum'/>
              <on_reboot>destroy</on_reboot>
              <devices>
                <disk type='file' device='disk'>
                  <driver name='qemu' type='raw' io='threads' discard='unmap' detect_zeroes='unmap'/>
                  <source file='%s'/>
                  <target dev='vda' bus='virtio'/>
                </disk>
                <serial type='null'/>
                <channel type='unix'>
                  <source mode='bind' path='%s'/>
                  <target type='virtio' name='coppice.agent.0'/>
                </channel>
                <rng model='virtio'><backend model='random'>/dev/urandom</backend></rng>
                <memballoon model='none'/>
              </devices>
            </domain>
            """;

    private final Libvirt libvirt;
    private final Path directory;
    private Optional<Guest> guest = Optional.empty();
    private Duration lastRestore = Duration.ZERO;

    /// Boots a machine like the sample.
    Peer(Libvirt libvirt, Sample sample) throws Exception {
        this.libvirt = libvirt;
        this.directory = sample.newPlace("peer");
        Files.createDirectories(directory);
        for (var name : new String[] {"disk.raw", "vmlinuz", "initrd"}) {
            sample.reflink().copy(sample.capture().resolve(name), directory.resolve(name));
            Libvirt.give(directory.resolve(name));
        }
        Libvirt.give(directory);
        var description = directory.resolve("machine.xml");
        Files.writeString(description, describe(sample));
        Libvirt.give(description);
        libvirt.run("create", description.toString());
        greet();
    }

    private String describe(Sample sample) throws IOException {
        var line = Files.readString(sample.capture().resolve("command-line")).strip();
        return MACHINE.formatted(
                NAME,
                sample.memory(),
                directory.resolve("vmlinuz"),
                directory.resolve("initrd"),
                line + " maxcpus=1",
                directory.resolve("disk.raw"),
                directory.resolve("agent"));
    }

    private void greet() throws Exception {
        var qemu = ProcessHandle.of(pid()).orElseThrow();
        guest = Optional.of(Floor.greet(NAME, directory.resolve("agent"), qemu, false));
    }

    @Override
    public void exec(String command) throws IOException {
        Floor.exec(guest.orElseThrow(), command);
    }

    @Override
    public long pid() throws IOException {
        return RunningQemu.named("guest=" + NAME + ",debug-threads=on").pid();
    }

    /// Stops it for ever: only [#forget] lets it go on.
    @Override
    public Duration capture() throws Exception {
        guest.orElseThrow().close();
        guest = Optional.empty();
        return Step.time(() -> libvirt.run("save", NAME, save().toString()));
    }

    @Override
    public void forget() throws Exception {
        lastRestore =
                Step.time(
                        () -> {
                            libvirt.run("restore", save().toString());
                            greet();
                        });
        Published.delete(save());
    }

    /// How long the last [#forget] took until the guest answered.
    Duration lastRestore() {
        return lastRestore;
    }

    private Path save() {
        return directory.resolve("save");
    }

    @Override
    public void close() throws IOException {
        guest.ifPresent(Guest::close);
        libvirt.run("destroy", NAME);
        Published.delete(directory);
    }
}
