package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Size;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommandLineTest {
    private static final Path DIRECTORY = Path.of("/data/volume/vms/vm-1");

    static List<Golden> golden() throws Exception {
        return Golden.all();
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theArgumentsAreThoseOfTheGoldenFile(Golden golden) {
        var directory = Path.of(golden.input().getOrDefault("directory", DIRECTORY.toString()));
        assertEquals(
                String.join("\n", golden.expected()),
                String.join("\n", golden.arguments(directory)));
    }

    /// A guest goes on after a restore only on the very machine that it was captured on.
    @Test
    void aMachineIsRestoredWithWhatItWasBootedWith() {
        var random = Seed.random(CommandLineTest.class);
        for (int n = 0; n < 100; n++) {
            var shape = AnyShape.of(random);
            var hypervisor = random.nextBoolean() ? kvm() : new Hypervisor("tcg", "10.0.2", "max");
            var boot = arguments(shape, hypervisor, CommandLine.Start.BOOT);
            var restore = arguments(shape, hypervisor, CommandLine.Start.RESTORE);
            int same = boot.indexOf("-kernel");
            assertTrue(boot.contains("quiet maxcpus=" + shape.cpus()), boot.toString());
            assertEquals(boot.subList(0, same), restore.subList(0, restore.indexOf("-incoming")));
            assertFalse(restore.contains("-kernel"));
            assertEquals(1 + shape.addedMemory().size(), count(restore, "memory-backend-file,"));
        }
    }

    @Test
    void noGuestMayWriteToAMemoryImage() {
        var random = Seed.random(CommandLineTest.class);
        for (int n = 0; n < 100; n++) {
            var shape = AnyShape.of(random);
            arguments(shape, kvm(), CommandLine.Start.RESTORE).stream()
                    .filter(argument -> argument.startsWith("memory-backend-"))
                    .forEach(
                            argument ->
                                    assertTrue(
                                            argument.endsWith(",share=off,readonly=on,rom=off"),
                                            argument));
        }
    }

    /// Every byte of memory has its own place in the image, in order and without gaps.
    @Test
    void theMemoryImageIsMappedWhole() {
        var random = Seed.random(CommandLineTest.class);
        for (int n = 0; n < 100; n++) {
            var shape = AnyShape.of(random);
            var end = new Size(0);
            for (var argument : arguments(shape, kvm(), CommandLine.Start.RESTORE)) {
                if (argument.startsWith("memory-backend-file,")) {
                    assertEquals(end.bytes(), number(argument, "offset="), argument);
                    end = end.plus(new Size(number(argument, "size=")));
                }
            }
            assertEquals(shape.totalMemory(), end);
        }
    }

    private static long number(String argument, String key) {
        return Stream.of(argument.split(","))
                .filter(part -> part.startsWith(key))
                .map(part -> Long.valueOf(part.substring(key.length())))
                .findFirst()
                .orElseThrow();
    }

    private static long count(List<String> arguments, String part) {
        return arguments.stream().filter(argument -> argument.contains(part)).count();
    }

    private static Hypervisor kvm() {
        return new Hypervisor("kvm", "10.0.2", "EPYC");
    }

    private static List<String> arguments(
            MachineShape shape, Hypervisor hypervisor, CommandLine.Start start) {
        return CommandLine.of(
                "vm-1",
                shape,
                hypervisor,
                new MachineFiles(DIRECTORY),
                Optional.of(new Link(Path.of("/run/netns/x"), "tap1", "02:c0:00:00:00:01")),
                start,
                "quiet");
    }
}
