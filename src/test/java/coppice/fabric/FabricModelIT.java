package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.identity.AccountId;
import coppice.network.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// `-Dcoppice.flows=N` tries so many connections.
class FabricModelIT {
    private static final int FLOWS = Integer.getInteger("coppice.flows", 2000);
    private static final int ROUNDS = 8;
    private static final int SHOWN = 6;

    /// They are tried all at once, and those that are refused cost as much.
    private static final Duration PATIENCE = Duration.ofMillis(600);

    /// One that ought to be answered is tried again, since this machine may have much else to do.
    private static final List<Duration> MORE_PATIENCE =
            List.of(Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(8));

    private final Map<Trial.Kind, Tally> tallies = new TreeMap<>();

    private record Problem(Trial trial, String text) {}

    private record Tally(int allowed, int refused, int late) {
        static final Tally NONE = new Tally(0, 0, 0);

        Tally plus(Tally other) {
            return new Tally(allowed + other.allowed, refused + other.refused, late + other.late);
        }
    }

    @Test
    void packetsDoWhatTheModelSaysWhateverChanges() {
        var random = Seed.random(FabricModelIT.class);
        try (var lab = new Lab()) {
            var world = new World(random, lab);
            for (int round = 0; round < ROUNDS; round++) {
                var trials = new RandomTrials(random, lab, world.tunnels()).some(FLOWS / ROUNDS);
                assertEquals("", story(problems(lab, world::rules, trials), lab, world));
                world.change(round);
                if (round % 3 == 0) {
                    assertEquals(List.of(), lab.restart(lab.guests()));
                }
            }
        }
        System.out.println(tallies);
    }

    private List<Problem> problems(
            Lab lab, Function<AccountId, List<Rule>> rules, List<Trial> trials) {
        var listeners =
                trials.stream().flatMap(trial -> trial.listener().stream()).distinct().toList();
        listeners.forEach(Probe::watch);
        var outcomes = outcomes(trials);
        var heard =
                listeners.stream().collect(Collectors.toMap(listener -> listener, Probe::heard));
        var problems = new ArrayList<Problem>();
        for (var trial : trials) {
            boolean isAllowed = trial.isAllowedByModel(rules);
            if (isAllowed != trial.isAllowedByReading(rules)) {
                problems.add(new Problem(trial, "evaluate says %s".formatted(isAllowed)));
            }
            var wrong =
                    isAllowed
                            ? unanswered(trial, outcomes.get(trial), lab.settings())
                            : passed(trial, outcomes.get(trial), heard);
            wrong.forEach(text -> problems.add(new Problem(trial, text)));
        }
        return problems;
    }

    private static Map<Trial, Flow.Outcome> outcomes(List<Trial> trials) {
        var flows =
                trials.stream()
                        .collect(
                                Collectors.groupingBy(
                                        Trial::prober,
                                        Collectors.mapping(Trial::flow, Collectors.toList())));
        flows.forEach((prober, tried) -> prober.begin(tried, PATIENCE));
        var ended = new HashMap<Flow, Flow.Outcome>();
        flows.forEach((prober, tried) -> ended.putAll(prober.outcomes(tried)));
        return trials.stream()
                .collect(Collectors.toMap(trial -> trial, trial -> ended.get(trial.flow())));
    }

    /// What is wrong with one that is allowed: it is to be answered by whoever saw it come from where it did.
    private Stream<String> unanswered(Trial trial, Flow.Outcome first, FabricSettings settings) {
        var expected = new Flow.Reached(trial.peer(settings));
        var outcome = first;
        for (var patience : MORE_PATIENCE) {
            if (!(outcome instanceof Flow.Reached)) {
                outcome = trial.prober().outcome(trial.flow().again(), patience);
            }
        }
        count(trial, new Tally(1, 0, first.equals(outcome) ? 0 : 1));
        return outcome.equals(expected)
                ? Stream.empty()
                : Stream.of("%s instead of %s".formatted(outcome, expected));
    }

    /// What is wrong with one that is not: nothing of it is to arrive.
    private Stream<String> passed(
            Trial trial, Flow.Outcome outcome, Map<Probe, List<Frame>> heard) {
        count(trial, new Tally(0, 1, 0));
        return outcome instanceof Flow.Reached
                ? Stream.of("%s, but it is not allowed".formatted(outcome))
                : trial.listener().stream()
                        .flatMap(listener -> heard.get(listener).stream())
                        .filter(trial::isIn)
                        .map(frame -> "not allowed, but heard: " + frame);
    }

    private void count(Trial trial, Tally tally) {
        tallies.merge(trial.kind(), tally, Tally::plus);
    }

    private static String story(List<Problem> problems, Lab lab, World world) {
        if (problems.isEmpty()) {
            return "";
        }
        var shown = problems.stream().limit(SHOWN).toList();
        var rulesets =
                lab.guests().stream()
                        .filter(
                                guest ->
                                        shown.stream()
                                                .anyMatch(
                                                        problem ->
                                                                problem.trial()
                                                                        .isAbout(guest.nic())))
                        .flatMap(guest -> Stream.of(lab.ruleset(guest), lab.routes(guest)))
                        .distinct();
        var tunnels =
                shown.stream()
                        .flatMap(problem -> problem.trial().tunnels())
                        .map(tunnel -> lab.ruleset(tunnel.id().text()))
                        .distinct();
        var lines = shown.stream().map(problem -> problem.trial() + ": " + problem.text());
        return Stream.of(
                        Stream.of("%d problems".formatted(problems.size())),
                        lines,
                        Stream.of(world.story()),
                        rulesets,
                        tunnels)
                .flatMap(part -> part)
                .collect(Collectors.joining("\n"));
    }
}
