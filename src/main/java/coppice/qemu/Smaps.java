package coppice.qemu;

import java.util.ArrayList;
import java.util.List;

/// What a process has mapped and how much of it is in memory (proc_pid_smaps(5)). Sizes in bytes.
final class Smaps {

    /// @param resident in memory, its own or the host's
    /// @param anonymous of these, pages that the process has changed or made: they are in no file
    /// @param alone in memory and mapped by no other process
    record Mapping(long start, long end, long inode, long resident, long anonymous, long alone) {}

    private Smaps() {}

    static List<Mapping> parse(List<String> lines) {
        var found = new ArrayList<Mapping>();
        for (int i = 0; i < lines.size(); ) {
            int next = i + 1;
            while (next < lines.size() && !isHead(lines.get(next))) {
                next++;
            }
            found.add(mapping(lines.get(i), lines.subList(i + 1, next)));
            i = next;
        }
        return List.copyOf(found);
    }

    /// Of a mapping, `start-end perms offset dev inode name`; what follows it are lines `Name: value`.
    private static boolean isHead(String line) {
        int space = line.indexOf(' ');
        return space > 0 && line.charAt(space - 1) != ':';
    }

    private static Mapping mapping(String head, List<String> lines) {
        var fields = head.split(" +", 6);
        var range = fields[0].split("-");
        long resident = 0;
        long anonymous = 0;
        long alone = 0;
        for (var line : lines) {
            switch (line.substring(0, line.indexOf(':'))) {
                case "Rss" -> resident = bytes(line);
                case "Anonymous" -> anonymous = bytes(line);
                case "Private_Clean", "Private_Dirty" -> alone += bytes(line);
                default -> {} // there are more with every kernel
            }
        }
        return new Mapping(
                Long.parseUnsignedLong(range[0], 16),
                Long.parseUnsignedLong(range[1], 16),
                Long.parseLong(fields[4]),
                resident,
                anonymous,
                alone);
    }

    private static long bytes(String line) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
}
