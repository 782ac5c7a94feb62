package coppice.qemu;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.base.Size;
import coppice.process.Command;
import coppice.process.ProcessId;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A process that maps files privately, changed random pages of them, and stopped: `dirty.c`.
final class DirtyProcess implements AutoCloseable {
    private final Process process;
    private final List<Range> ranges = new ArrayList<>();

    /// A part of a file to be mapped, and pages of it to be changed for sure.
    record Part(Path file, long offset, long length, List<Long> pages) {
        Part(Path file) throws IOException {
            this(file, 0, Files.size(file), List.of());
        }
    }

    /// Where a part is mapped, and how many of its pages are the process's own.
    record Range(long address, int length, long ownPages) {}

    /// Compiles the program, or skips the test.
    static Path compile(Path directory) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "skipped: there is no gcc");
        var source = Path.of(DirtyProcess.class.getResource("dirty.c").toURI());
        var program = directory.resolve("dirty");
        Command.of("gcc", "-O1", "-Wall", "-o", program.toString(), source.toString())
                .runOrFail(Deadline.in(Duration.ofSeconds(60)));
        return program;
    }

    DirtyProcess(Path program, long seed, Part... parts) throws IOException {
        var line = new ArrayList<String>(List.of(program.toString(), Long.toString(seed)));
        for (var part : parts) {
            line.add(part.file().toString());
            line.add(Long.toString(part.offset()));
            line.add(Long.toString(part.length()));
            part.pages().forEach(page -> line.add(page.toString()));
            line.add("-1");
        }
        process = new ProcessBuilder(line).redirectErrorStream(true).start();
        var output = new BufferedReader(new InputStreamReader(process.getInputStream()));
        for (var said = output.readLine(); !"ready".equals(said); said = output.readLine()) {
            if (said == null) {
                throw new IOException("the process ended: " + process.onExit().join().exitValue());
            }
            var words = said.split(" ");
            ranges.add(
                    new Range(
                            Long.parseLong(words[0]),
                            Integer.parseInt(words[1]),
                            Long.parseLong(words[2])));
        }
    }

    ProcessId id() {
        return ProcessId.of(process.pid()).orElseThrow();
    }

    Size ownMemory() {
        return new Size(ranges.stream().mapToLong(Range::ownPages).sum() * 4096);
    }

    /// All its memory in the order of the parts, as the process sees it.
    byte[] memory() throws IOException {
        var all = ByteBuffer.allocate(ranges.stream().mapToInt(Range::length).sum());
        var file = Path.of("/proc", Long.toString(process.pid()), "mem");
        try (var memory = FileChannel.open(file, StandardOpenOption.READ)) {
            for (var range : ranges) {
                int end = all.position() + range.length();
                all.limit(end);
                while (all.hasRemaining()) {
                    memory.read(all, range.address() + range.length() - all.remaining());
                }
            }
        }
        return all.array();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
