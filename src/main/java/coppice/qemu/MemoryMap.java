package coppice.qemu;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The private writable memory of a process (proc_pid_maps(5)).
final class MemoryMap {
    private static final String STACK = "[stack]";

    private final Path proc;
    private final List<Area> areas = new ArrayList<>();

    /// One area: where it is, and where it begins in the file that it maps.
    record Area(long start, long end, long fileOffset, long inode, String name) {
        long length() {
            return end - start;
        }
    }

    private MemoryMap(Path proc) {
        this.proc = proc;
    }

    static MemoryMap of(long pid) throws IOException {
        var map = new MemoryMap(Path.of("/proc", Long.toString(pid)));
        for (var line : Files.readAllLines(map.proc.resolve("maps"), StandardCharsets.ISO_8859_1)) {
            var fields = line.split(" +", 6);
            if (fields[1].startsWith("rw") && fields[1].endsWith("p")) {
                var range = fields[0].split("-");
                map.areas.add(
                        new Area(
                                Long.parseUnsignedLong(range[0], 16),
                                Long.parseUnsignedLong(range[1], 16),
                                Long.parseUnsignedLong(fields[2], 16),
                                Long.parseLong(fields[4]),
                                fields.length == 6 ? fields[5] : ""));
            }
        }
        return map;
    }

    /// The areas that map this very file.
    List<Area> of(Path file) throws IOException {
        long inode = (long) Files.getAttribute(file, "unix:ino");
        var found = new ArrayList<Area>();
        for (var area : areas) {
            // A file on another file system may have the same inode number, and Btrfs shows
            // another device here than stat does: only the mapped file itself is sure.
            if (area.inode() == inode && Files.isSameFile(mapped(area), file)) {
                found.add(area);
            }
        }
        return found;
    }

    private Path mapped(Area area) {
        return proc.resolve("map_files").resolve("%x-%x".formatted(area.start(), area.end()));
    }

    /// The areas of at least this length, but for the stack of the main thread.
    List<Area> atLeast(long length) {
        return areas.stream()
                .filter(area -> area.length() >= length && !area.name().equals(STACK))
                .toList();
    }
}
