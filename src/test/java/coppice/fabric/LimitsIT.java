package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.Protocol;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What one VM may take of what is there for all.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LimitsIT {
    private static final int CONNECTIONS = 64;
    private static final int TRIED = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration SHORT = Duration.ofMillis(800);

    private final AccountId account = AccountId.random();
    private Lab lab;
    private Guest greedy;
    private Guest modest;

    @BeforeAll
    void twoMembersOfANetworkWhereEverythingIsPermitted() {
        lab = new Lab(CONNECTIONS);
        var here = Ends.rule(Matcher.BARE, Matcher.BARE);
        var vpc =
                Given.vpc(
                        lab,
                        account,
                        "10.4.0.0/24",
                        here,
                        Ends.rule(Matcher.BARE, Matcher.INTERNET),
                        Ends.rule(Matcher.INTERNET, Matcher.BARE));
        greedy = Given.member(lab, account, vpc);
        modest = Given.member(lab, account, vpc);
    }

    @AfterAll
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    void aVmHasSoManyConnectionsAndLeavesTheOthersTheirs() {
        // Some are known from its start; those that are not answered are forgotten soon.
        var inside = reached(greedy, greedy.ipv4(), modest.ipv4());
        assertTrue(inside <= CONNECTIONS && inside >= CONNECTIONS - 8, () -> "inside: " + inside);
        assertEquals(0, reached(greedy, greedy.ipv4(), Ground.INTERNET));
        assertReached(modest, Flow.udp(modest.ipv4(), 50000, greedy.ipv4(), 80));
        assertReached(modest, Flow.udp(modest.ipv4(), 50000, Ground.INTERNET, 80));
        // A change of rules forgets nothing of that, and cuts nothing.
        var rule = Given.permitted(lab, account, Given.vm(greedy), Given.range("10.9.0.0/24"));
        assertEquals(0, reached(greedy, greedy.ipv4(), Ground.INTERNET));
        assertReached(greedy, Flow.udp(greedy.ipv4(), 41000, modest.ipv4(), 80));
        lab.networks().deleteRule(account, rule.id().text());
    }

    @Test
    void aVmIsComeToByNoMoreThanThatFromOutside() {
        var address = modest.publicIpv6();
        int reached = reached(lab.ground().internet(), Ground.INTERNET_V6, address);
        assertTrue(reached <= CONNECTIONS && reached >= CONNECTIONS - 8, () -> "in: " + reached);
        assertReached(modest, Flow.udp(modest.ipv4(), 50001, Ground.INTERNET, 80));
    }

    @Test
    void whoFloodsTheResolverIsNotHeardAndOthersAre() {
        Wait.until(
                Duration.ofSeconds(30),
                () -> flood() < 3000,
                () -> "all of many questions were heard");
    }

    /// How many of 3000 questions were heard.
    private int flood() {
        var flows =
                IntStream.range(0, 3000)
                        .mapToObj(i -> Flow.udp(greedy.ipv4(), 30000 + i, Fabric.GATEWAY, 53))
                        .toList();
        greedy.probe().begin(flows, SHORT);
        assertReached(modest, Flow.udp(modest.ipv4(), 50002, Fabric.GATEWAY, 53));
        var outcomes = greedy.probe().outcomes(flows).values();
        return (int) outcomes.stream().filter(o -> o instanceof Flow.Reached).count();
    }

    private static int reached(Guest from, IpAddress source, IpAddress destination) {
        return reached(from.probe(), source, destination);
    }

    /// How many of [#TRIED] connections are answered.
    private static int reached(Probe from, IpAddress source, IpAddress destination) {
        List<Flow> flows =
                IntStream.range(0, TRIED)
                        .mapToObj(i -> Flow.of(Protocol.UDP, source, 41000 + i, destination, 80))
                        .toList();
        from.begin(flows, SHORT);
        return (int)
                from.outcomes(flows).values().stream()
                        .filter(outcome -> outcome instanceof Flow.Reached)
                        .count();
    }

    private static void assertReached(Guest from, Flow flow) {
        var outcome = from.probe().outcome(flow, PATIENCE);
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }
}
