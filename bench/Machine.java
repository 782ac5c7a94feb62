import coppice.qemu.Hypervisor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What the measurement runs on.
///
/// @param processor the model's name
/// @param cores how many the JVM may use
record Machine(String processor, int cores, Hypervisor hypervisor) {

    static Machine find() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            var model =
                    lines.filter(line -> line.startsWith("model name"))
                            .map(line -> line.substring(line.indexOf(':') + 1).strip())
                            .findFirst()
                            .orElse("unknown");
            return new Machine(
                    model, Runtime.getRuntime().availableProcessors(), Hypervisor.find());
        }
    }

    /// The load average of the last minute.
    static double load() throws IOException {
        return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    }

    @Override
    public String toString() {
        return "%s, %d cores; QEMU %s, %s"
                .formatted(processor, cores, hypervisor.version(), hypervisor.accelerator());
    }
}
