package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.Wait;
import coppice.identity.AccountId;
import coppice.network.NewRule;
import coppice.network.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;

/// Connections on which something is said all the time. At each instant some rule permits each of them, whatever else is taken away, but
/// for those that are cut.
final class SteadyFlows {
    private static final Duration INTERVAL = Duration.ofMillis(8);
    private static final Duration PATIENCE = Duration.ofSeconds(4);

    /// What had arrived already when a rule went has been heard after this time.
    private static final Duration ARRIVING = Duration.ofMillis(60);

    private static final Duration SILENCE = Duration.ofMillis(250);

    private final Lab lab;
    private final Random random;
    private final Covers covers;
    private final List<Trial> live = new ArrayList<>();
    private int port = 41_000;
    private int cuts;

    SteadyFlows(Random random, Lab lab) {
        this.random = random;
        this.lab = lab;
        this.covers = new Covers(random);
    }

    /// Begins one like this.
    void begin(Trial like) {
        var flow = like.flow();
        var trial =
                like.with(
                        Flow.of(
                                flow.protocol(),
                                flow.source(),
                                ++port,
                                flow.destination(),
                                flow.destinationPort()));
        trial.owners()
                .filter(account -> !trial.isPermitted(account, rules(account)))
                .forEach(account -> permit(account, covers.any(trial, account)));
        trial.prober().stream(trial.flow(), INTERVAL);
        Wait.until(
                PATIENCE,
                () -> count(trial).answered() > 2,
                () -> "does not begin: " + story(trial));
        live.add(trial);
    }

    private static Probe.Count count(Trial trial) {
        return trial.prober().count(trial.flow());
    }

    List<Rule> rules(AccountId account) {
        return lab.networks().of(account).rules();
    }

    private void permit(AccountId account, NewRule rule) {
        lab.networks().createRule(account, rule);
    }

    /// Deletes rules; what only they permitted is permitted by another one before.
    void delete(AccountId account, List<Rule> gone) {
        cover(account, gone, live.stream(), trial -> covers.any(trial, account));
        remove(account, gone);
    }

    /// Sees to it that nothing depends on rules that are about to go.
    void cover(AccountId account, List<Rule> gone) {
        cover(account, gone, live.stream(), trial -> covers.any(trial, account));
    }

    private void cover(
            AccountId account,
            List<Rule> gone,
            Stream<Trial> kept,
            Function<Trial, NewRule> cover) {
        kept.filter(trial -> trial.owners().anyMatch(account::equals))
                .forEach(
                        trial -> {
                            var left = new ArrayList<>(rules(account));
                            left.removeAll(gone);
                            if (!trial.isPermitted(account, left)) {
                                permit(account, cover.apply(trial));
                            }
                        });
    }

    private void remove(AccountId account, List<Rule> gone) {
        gone.forEach(rule -> lab.networks().deleteRule(account, rule.id().text()));
    }

    /// Takes one of them all that permits it and sees it end at that instant; then another one like it begins.
    void cutOne() {
        var trial = live.remove(random.nextInt(live.size()));
        assertLostNothing(trial);
        var owners = trial.owners().toList();
        var account = owners.get(random.nextInt(owners.size()));
        var gone =
                rules(account).stream()
                        .filter(rule -> trial.isPermitted(account, List.of(rule)))
                        .toList();
        cover(account, gone, live.stream(), covers::exact);
        remove(account, gone);
        assertSilent(trial);
        cuts++;
        begin(trial);
    }

    private void assertSilent(Trial trial) {
        Wait.through(ARRIVING, () -> {});
        var before = count(trial);
        Wait.through(SILENCE, () -> {});
        var after = trial.prober().end(trial.flow());
        assertEquals(before.answered(), after.answered(), () -> "goes on: " + story(trial));
        var fresh = trial.flow().again();
        var outcome = trial.prober().outcome(fresh, SILENCE);
        assertFalse(outcome instanceof Flow.Reached, () -> outcome + " again: " + story(trial));
    }

    /// A moment comes at which nothing is on its way any more.
    private void assertLostNothing(Trial trial) {
        Wait.until(
                PATIENCE,
                () -> {
                    var count = count(trial);
                    return count.sent() - count.answered() <= mayLose(trial, count);
                },
                () -> "lost: %s of %s".formatted(count(trial), story(trial)));
        assertEquals(0, count(trial).wrong(), () -> story(trial));
    }

    /// Right after a change, so that it is known which one.
    void assertAllGoOn(String change) {
        var before = live.stream().map(SteadyFlows::count).toList();
        for (int i = 0; i < live.size(); i++) {
            var trial = live.get(i);
            long answered = before.get(i).answered();
            Wait.until(
                    PATIENCE,
                    () -> count(trial).answered() > answered,
                    () -> "stands still after a change (%s): %s".formatted(change, story(trial)));
        }
    }

    /// When a tunnel loses a range that is behind its client, WireGuard is told anew what is there, and knows nothing of it for a moment.
    private static long mayLose(Trial trial, Probe.Count count) {
        return trial.tunnels().findAny().isPresent() ? 5 + count.sent() / 50 : 0;
    }

    /// Ends all of them.
    ///
    /// @return what there was, in words
    String end() {
        live.forEach(trial -> trial.prober().rest(trial.flow()));
        live.forEach(this::assertLostNothing);
        var counts = live.stream().map(SteadyFlows::count).toList();
        long answered = counts.stream().mapToLong(Probe.Count::answered).sum();
        long sent = counts.stream().mapToLong(Probe.Count::sent).sum();
        return "%d flows with %d answers; %d lost, all of them by tunnels; %d were cut"
                .formatted(live.size(), answered, sent - answered, cuts);
    }

    private String story(Trial trial) {
        var lines = new StringBuilder(trial + "\n");
        trial.owners()
                .forEach(
                        account -> rules(account).forEach(rule -> lines.append(rule).append('\n')));
        trial.tunnels().forEach(tunnel -> lines.append(lab.ruleset(tunnel.id().text())));
        lab.guests().stream()
                .filter(guest -> trial.isAbout(guest.nic()))
                .forEach(guest -> lines.append(lab.ruleset(guest)).append(lab.routes(guest)));
        return lines.toString();
    }
}
