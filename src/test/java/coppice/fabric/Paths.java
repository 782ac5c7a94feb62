package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/// Two members of a network, a VM that is alone, one of another account, and a path of every kind between them and to others. No rule
/// permits anything.
final class Paths implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration STEADY = Duration.ofMillis(5);

    private final AccountId account = AccountId.random();
    private final AccountId stranger = AccountId.random();
    private final Lab lab = new Lab();
    private final List<Stream> open = new ArrayList<>();
    private final Guest guest;
    private final Guest member;
    private final Guest alone;
    private final Guest foreign;

    /// From where a connection is opened.
    record Path(Probe probe, Flow flow) {
        Flow.Outcome outcome(UnaryOperator<Flow> change) {
            return probe.outcome(change.apply(flow), PATIENCE);
        }
    }

    /// A connection that goes on.
    record Stream(Probe probe, Flow flow) {
        Probe.Count count() {
            return probe.count(flow);
        }
    }

    Paths() {
        boolean isReady = false;
        try {
            var vpc = Given.vpc(lab, account, "10.6.0.0/24");
            guest = Given.member(lab, account, vpc);
            member = Given.member(lab, account, vpc);
            alone = Given.alone(lab, account);
            foreign = Given.alone(lab, stranger);
            isReady = true;
        } finally {
            if (!isReady) {
                lab.close();
            }
        }
    }

    Lab lab() {
        return lab;
    }

    AccountId account() {
        return account;
    }

    List<AccountId> accounts() {
        return List.of(account, stranger);
    }

    Guest guest() {
        return guest;
    }

    Guest member() {
        return member;
    }

    Guest alone() {
        return alone;
    }

    void permitEverything() {
        accounts().forEach(each -> Given.everythingIsPermitted(lab, each));
    }

    void forbidEverything() {
        for (var each : accounts()) {
            lab.networks()
                    .of(each)
                    .rules()
                    .forEach(rule -> lab.networks().deleteRule(each, rule.id().text()));
        }
    }

    /// As it was in the beginning.
    void clear() {
        open.forEach(stream -> stream.probe().end(stream.flow()));
        open.clear();
        forbidEverything();
    }

    /// UDP.
    List<Path> all() {
        return List.of(
                new Path(guest.probe(), Flow.udp(guest.ipv4(), 40011, member.ipv4(), 80)),
                new Path(
                        guest.probe(),
                        Flow.udp(guest.privateIpv6(), 40011, member.privateIpv6(), 80)),
                new Path(
                        guest.probe(),
                        Flow.udp(guest.publicIpv6(), 40011, member.publicIpv6(), 80)),
                new Path(
                        guest.probe(), Flow.udp(guest.publicIpv6(), 40011, alone.publicIpv6(), 80)),
                new Path(
                        foreign.probe(),
                        Flow.udp(foreign.publicIpv6(), 40011, guest.publicIpv6(), 80)),
                new Path(guest.probe(), Flow.udp(guest.ipv4(), 40011, Ground.INTERNET, 80)),
                new Path(
                        alone.probe(), Flow.udp(alone.publicIpv6(), 40011, Ground.INTERNET_V6, 80)),
                new Path(
                        lab.ground().internet(),
                        Flow.udp(Ground.INTERNET_V6, 40011, guest.publicIpv6(), 80)));
    }

    /// Open connections on all of them, by UDP and by TCP.
    List<Stream> streams() {
        var streams = new ArrayList<Stream>();
        for (var path : all()) {
            var flow = path.flow();
            var tcp = Flow.tcp(flow.source(), 40012, flow.destination(), 80);
            streams.add(stream(path.probe(), flow));
            streams.add(stream(path.probe(), tcp));
        }
        return streams;
    }

    Stream stream(Probe probe, Flow flow) {
        var stream = new Stream(probe, flow);
        probe.stream(flow, STEADY);
        open.add(stream);
        Wait.until(
                PATIENCE, () -> stream.count().answered() > 2, () -> "does not begin: " + stream);
        return stream;
    }

    void assertSilent(UnaryOperator<Flow> change) {
        var flows =
                all().stream()
                        .collect(
                                Collectors.groupingBy(
                                        Path::probe,
                                        Collectors.mapping(
                                                path -> change.apply(path.flow()),
                                                Collectors.toList())));
        flows.forEach((probe, tried) -> probe.begin(tried, SHORT));
        flows.forEach(
                (probe, tried) ->
                        probe.outcomes(tried)
                                .forEach(
                                        (flow, outcome) ->
                                                assertEquals(
                                                        new Flow.Silent(),
                                                        outcome,
                                                        flow::toString)));
    }

    void assertReached(UnaryOperator<Flow> change) {
        for (var path : all()) {
            var outcome = path.outcome(change);
            assertTrue(outcome instanceof Flow.Reached, () -> path + ": " + outcome);
        }
    }

    @Override
    public void close() {
        lab.close();
    }
}
