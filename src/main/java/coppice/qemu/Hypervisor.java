package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/// What executes guests on this host. A captured machine can only go on under the same one.
///
/// @param accelerator `kvm` or `tcg`
/// @param version of QEMU, such as `10.0.2`
/// @param processor what the guest sees as processor: for KVM the host's model name, since the guest gets the host's features; for TCG
///     the model that QEMU is told
public record Hypervisor(String accelerator, String version, String processor) {
    public static final String PROGRAM = "qemu-system-x86_64";

    /// QEMU 9.0 is the first that takes an open /dev/kvm, which the user of a VM could not open itself.
    private static final int KVM_RELEASE = 900;

    /// All that QEMU can emulate but what says that copying by single bytes is fast (Enhanced and Fast Short REP MOVSB): emulated, each
    /// byte is an instruction, and kernel and C library would copy and clear by nothing else.
    private static final String EMULATED = "max,erms=off,fsrm=off";

    private static final Pattern VERSION = Pattern.compile("version (\\d+)\\.(\\d+)\\.(\\d+)");

    /// Asks QEMU and the kernel.
    public static Hypervisor find() {
        var output =
                Command.of(PROGRAM, "--version").runOrFail(Deadline.in(Duration.ofSeconds(20)));
        var found = VERSION.matcher(output);
        if (!found.find()) {
            throw new Failure(Code.UNAVAILABLE, "%s does not tell its version".formatted(PROGRAM));
        }
        int release = Integer.parseInt(found.group(1)) * 100 + Integer.parseInt(found.group(2));
        if (release < 802) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "QEMU %s is too old; 8.2 or newer is needed (run ./coppice up)"
                            .formatted(found.group().substring(8)));
        }
        boolean kvm = release >= KVM_RELEASE && hasKvm();
        return new Hypervisor(
                kvm ? "kvm" : "tcg",
                found.group().substring("version ".length()),
                kvm ? hostProcessor() : EMULATED);
    }

    boolean isKvm() {
        return accelerator.equals("kvm");
    }

    /// The device alone is no proof: a kernel can offer KVM without hardware behind it (PVM), and that runs only guests made for it.
    private static boolean hasKvm() {
        var flags = List.of(cpuinfo("flags").split(" "));
        return Files.isReadable(Path.of("/dev/kvm"))
                && Files.isWritable(Path.of("/dev/kvm"))
                && (flags.contains("vmx") || flags.contains("svm"));
    }

    private static String hostProcessor() {
        return cpuinfo("model name");
    }

    private static String cpuinfo(String field) {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith(field + "\t"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "/proc/cpuinfo cannot be read", e);
        }
    }
}
