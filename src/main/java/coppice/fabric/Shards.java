package coppice.fabric;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Splits long chains of nftables into short ones that they jump to, by what a line says: a line that goes costs as much as its chain is
/// long, since only a whole chain can be replaced without asking for numbers.
final class Shards {
    /// A chain that is longer is split into so many.
    private static final int COUNT = 64;

    private Shards() {}

    static Map<String, List<String>> of(Map<String, List<String>> chains) {
        var split = new TreeMap<String, List<String>>();
        chains.forEach(
                (name, lines) -> {
                    // A rule for everybody is the same line in many segments, which remember it.
                    var known = lines.stream().map(String::intern).toList();
                    if (lines.size() <= COUNT) {
                        split.put(name, known);
                    } else {
                        split.putAll(shards(name, known));
                    }
                });
        return split;
    }

    private static Map<String, List<String>> shards(String name, List<String> lines) {
        var shards = new TreeMap<String, List<String>>();
        var jumps = new ArrayList<String>();
        for (int i = 0; i < COUNT; i++) {
            shards.put(name(name, i), new ArrayList<>());
            jumps.add("jump " + name(name, i));
        }
        for (var line : lines) {
            shards.get(name(name, Math.floorMod(line.hashCode(), COUNT))).add(line);
        }
        shards.put(name, jumps);
        return shards;
    }

    private static String name(String chain, int index) {
        return "%s_s%02d".formatted(chain, index);
    }
}
