package coppice.fabric;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

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
                    if (lines.size() <= COUNT) {
                        split.put(name, lines);
                    } else {
                        split.putAll(shards(name, lines));
                    }
                });
        return split;
    }

    private static Map<String, List<String>> shards(String name, List<String> lines) {
        var parts = Stream.generate(() -> new ArrayList<String>()).limit(COUNT).toList();
        lines.forEach(line -> parts.get(Math.floorMod(line.hashCode(), COUNT)).add(line));
        var shards = new TreeMap<String, List<String>>();
        for (int i = 0; i < COUNT; i++) {
            shards.put(name(name, i), parts.get(i));
        }
        shards.put(name, shards.keySet().stream().map(shard -> "jump " + shard).toList());
        return shards;
    }

    private static String name(String chain, int index) {
        return "%s_s%02d".formatted(chain, index);
    }
}
