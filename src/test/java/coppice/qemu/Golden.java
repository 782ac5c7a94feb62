package coppice.qemu;

import coppice.base.Size;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// One file of `src/test/resources/coppice/qemu`: what is to run, `---`, and the arguments that QEMU must get, one a line.
record Golden(String name, Map<String, String> input, List<String> expected) {

    static List<Golden> all() throws IOException, URISyntaxException {
        var directory = Path.of(Golden.class.getResource("boot-tcg.golden").toURI()).getParent();
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".golden"))
                    .sorted()
                    .map(Golden::read)
                    .toList();
        }
    }

    private static Golden read(Path file) {
        try {
            var lines = Files.readAllLines(file);
            int end = lines.indexOf("---");
            var input = new HashMap<String, String>();
            for (var line : lines.subList(0, end)) {
                int colon = line.indexOf(": ");
                input.put(line.substring(0, colon), line.substring(colon + 2));
            }
            var name = file.getFileName().toString();
            return new Golden(name, input, lines.subList(end + 1, lines.size()));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /// `processors: ONLINE of MAX`, `memory MiB: BOOT + MODULE MODULE... of MAX`
    MachineShape shape() {
        var cpus = numbers("processors").map(Long::intValue).toList();
        var memory = numbers("memory MiB").map(Size::ofMib).toList();
        return new MachineShape(
                cpus.get(0),
                cpus.get(1),
                memory.getFirst(),
                memory.subList(1, memory.size() - 1),
                memory.getLast(),
                input.containsKey("tap"));
    }

    private Stream<Long> numbers(String key) {
        return Arrays.stream(input.get(key).split("\\D+")).map(Long::valueOf);
    }

    Hypervisor hypervisor() {
        boolean kvm = input.get("accelerator").equals("kvm");
        return new Hypervisor(input.get("accelerator"), "10.0.2", kvm ? "EPYC" : "max");
    }

    /// `tap: NAME MAC`; absent: the machine has no network interface.
    private Optional<Link> link() {
        return Optional.ofNullable(input.get("tap"))
                .map(tap -> tap.split(" "))
                .map(tap -> new Link(Path.of("/run/netns/vm-1"), tap[0], tap[1]));
    }

    CommandLine.Start start() {
        return CommandLine.Start.valueOf(input.get("start"));
    }

    /// What QEMU gets, when the files are in `directory`.
    List<String> arguments(Path directory) {
        return CommandLine.of(
                "vm-1",
                shape(),
                hypervisor(),
                new MachineFiles(directory),
                link(),
                start(),
                input.getOrDefault("kernel", ""));
    }

    @Override
    public String toString() {
        return name;
    }
}
