package coppice.fabric;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What nftables is told so that it has these rules in the place of others, in one step: no packet sees anything in between. What stays
/// the same is not touched, so one rule more or less costs the same however many there are.
///
/// @param lines empty if nothing changes
/// @param placed what is in place then
record SegmentUpdate(String lines, Placed placed) {
    /// A table that goes drops what passes until its hooks are gone, and one that comes lets all pass until its policies are set: for some
    /// microseconds, but with every change.
    private static final String REMOVING =
            """
            table bridge port
            delete table bridge port
            table inet segment
            delete table inet segment
            """;

    /// What is counted stays, as do the connections.
    private static final String EMPTYING =
            """
            flush table bridge port
            flush set bridge port macs
            flush set bridge port owners4
            flush set bridge port owners6
            flush set bridge port targets6
            flush set bridge port routed4
            flush set bridge port routed6
            flush map bridge port stations4
            flush map bridge port stations6
            flush set inet segment own6
            flush set inet segment asking
            flush map inet segment inside
            flush map inet segment outside
            """;

    /// The kernel has ranges in place only some time after the rules that look for them, and finds none meanwhile.
    private static final String EMPTYING_OPEN =
            """
            flush table inet segment
            flush set inet segment public4
            flush set inet segment public6
            """;

    private static final List<String> FIXED = List.of("to_inside", "to_outside", "input", "decide");

    /// The commands that tell what is there.
    static final String LISTING =
            "nft list chains inet\nnft list chain inet segment forward 2>/dev/null || true\n";

    private static final Pattern GENERATION =
            Pattern.compile("(?m)^\\s*ct mark 0x([0-9a-f]+) accept");

    private static final Pattern CHAIN = Pattern.compile("(?m)^\\s*chain (\\S+) \\{");

    private static final List<String> DECIDED = List.of("permitted", "forward");

    /// Rules that are there.
    ///
    /// @param fixed absent: they are of a server whose state is not known, and all are emptied
    /// @param users the chains for users' rules
    record Placed(
            Optional<SegmentRules.Fixed> fixed, Map<String, List<String>> users, int generation) {

        /// Those of a former server.
        ///
        /// @param users the names of chains for users' rules
        /// @param generation 0 if it is not known
        static Placed unknown(Collection<String> users, int generation) {
            return new Placed(
                    Optional.empty(),
                    users.stream().collect(Collectors.toMap(name -> name, _ -> List.of())),
                    generation);
        }

        private boolean hasOpen(SegmentRules.Fixed fixed) {
            return this.fixed.filter(known -> known.open().equals(fixed.open())).isPresent();
        }
    }

    /// What is put in place of rules that are not known has their generation if that is known: what they permit is looked at only when all
    /// is in place, by [#looked].
    ///
    /// @param before absent: whatever is there goes
    /// @param next the generation, if it has to be another one than before: when anything is gone
    static SegmentUpdate of(SegmentRules rules, Optional<Placed> before, int next) {
        var fixed = rules.fixed();
        if (before.filter(there -> there.hasOpen(fixed)).isPresent()) {
            return changed(before.get(), fixed, rules, next);
        }
        int generation = before.map(Placed::generation).filter(known -> known > 0).orElse(next);
        var head =
                before.map(
                                there ->
                                        EMPTYING
                                                + EMPTYING_OPEN
                                                + commands("delete", gone(there, rules)))
                        .orElse(REMOVING);
        var placed = new Placed(Optional.of(fixed), rules.users(), generation);
        return new SegmentUpdate(head + whole(fixed, rules, generation), placed);
    }

    /// For a namespace in which no rule was ever: to remove what is not there would take as long as all else.
    static SegmentUpdate first(SegmentRules rules, int generation) {
        var fixed = rules.fixed();
        return new SegmentUpdate(
                whole(fixed, rules, generation),
                new Placed(Optional.of(fixed), rules.users(), generation));
    }

    /// Has every connection looked at again.
    static SegmentUpdate looked(SegmentRules rules, Placed before, int next) {
        return new SegmentUpdate(
                commands("flush", DECIDED) + table(rules.decided(next)),
                new Placed(before.fixed(), before.users(), next));
    }

    /// What is there, as far as nftables can tell.
    ///
    /// @param listed as [#LISTING] prints it
    static Placed found(String listed) {
        var chains =
                CHAIN.matcher(listed)
                        .results()
                        .map(found -> found.group(1))
                        .filter(chain -> !FIXED.contains(chain) && !DECIDED.contains(chain))
                        .distinct()
                        .toList();
        var mark = GENERATION.matcher(listed);
        return Placed.unknown(chains, mark.find() ? Integer.parseInt(mark.group(1), 16) : 0);
    }

    private static String whole(SegmentRules.Fixed fixed, SegmentRules rules, int generation) {
        return fixed.ports()
                + table(
                        fixed.open()
                                + fixed.sets()
                                + users(rules.users())
                                + fixed.chains()
                                + rules.decided(generation));
    }

    private static SegmentUpdate changed(
            Placed before, SegmentRules.Fixed fixed, SegmentRules rules, int next) {
        boolean isSame = before.fixed().equals(Optional.of(fixed));
        var after = rules.users();
        var gone = gone(before, rules);
        var additions = new HashMap<String, List<String>>();
        var emptied = new ArrayList<>(gone);
        after.forEach(
                (chain, lines) -> {
                    var old = before.users().get(chain);
                    if (old == null) {
                        additions.put(chain, lines);
                    } else if (!old.equals(lines)) {
                        var rest = new ArrayList<>(old);
                        var added = lines.stream().filter(line -> !rest.remove(line)).toList();
                        if (!rest.isEmpty()) {
                            emptied.add(chain);
                        }
                        additions.put(chain, rest.isEmpty() ? added : lines);
                    }
                });
        boolean isNext = !isSame || !emptied.isEmpty();
        int generation = isNext ? next : before.generation();
        var placed = new Placed(Optional.of(fixed), after, generation);
        if (!isNext && additions.isEmpty()) {
            return new SegmentUpdate("", placed);
        }
        return new SegmentUpdate(
                (isSame ? "" : EMPTYING)
                        + (isSame ? "" : commands("flush", FIXED))
                        + (isNext ? commands("flush", DECIDED) : "")
                        + commands("flush", emptied)
                        + commands("delete", gone)
                        + (isSame ? "" : fixed.ports())
                        + table(
                                (isSame ? "" : fixed.sets())
                                        + users(additions)
                                        + (isSame ? "" : fixed.chains())
                                        + (isNext ? rules.decided(generation) : "")),
                placed);
    }

    private static List<String> gone(Placed before, SegmentRules rules) {
        return before.users().keySet().stream()
                .filter(chain -> !rules.users().containsKey(chain))
                .toList();
    }

    private static String table(String content) {
        return "table inet segment {\n" + content + "}\n";
    }

    private static String commands(String command, List<String> chains) {
        return chains.stream()
                .sorted()
                .map(chain -> "%s chain inet segment %s\n".formatted(command, chain))
                .collect(Collectors.joining());
    }

    private static String users(Map<String, List<String>> chains) {
        return chains.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(
                        chain ->
                                "  chain %s {\n    %s\n  }\n"
                                        .formatted(
                                                chain.getKey(),
                                                String.join("\n    ", chain.getValue())))
                .collect(Collectors.joining());
    }
}
