package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.Protocol;
import coppice.network.Rule;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What becomes of a connection while rules change, and of all that belongs to it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenConnectionsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final Duration STEADY = Duration.ofMillis(5);
    private static final int CHANGES = 100;

    private final AccountId account = AccountId.random();
    private final AccountId stranger = AccountId.random();
    private Lab lab;
    private Guest guest;
    private Guest member;
    private Guest alone;
    private Guest foreign;
    private final List<Stream> open = new ArrayList<>();

    /// A connection that goes on.
    private record Stream(Probe probe, Flow flow) {
        Probe.Count count() {
            return probe.count(flow);
        }
    }

    @BeforeAll
    void twoMembersOneAloneAndOneOfAnotherAccount() {
        lab = new Lab();
        var vpc = Given.vpc(lab, account, "10.6.0.0/24");
        guest = Given.member(lab, account, vpc);
        member = Given.member(lab, account, vpc);
        alone = Given.alone(lab, account);
        foreign = Given.alone(lab, stranger);
    }

    @AfterEach
    void endEverything() {
        open.forEach(stream -> stream.probe().end(stream.flow()));
        open.clear();
        forbidEverything();
    }

    private void forbidEverything() {
        for (var each : List.of(account, stranger)) {
            lab.networks()
                    .of(each)
                    .rules()
                    .forEach(rule -> lab.networks().deleteRule(each, rule.id().text()));
        }
    }

    @AfterAll
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    void anOpenConnectionLosesNothingWhileOthersChange() {
        Given.everythingIsPermitted(lab, account);
        Given.everythingIsPermitted(lab, stranger);
        var streams = streams();
        for (int i = 0; i < CHANGES; i++) {
            var end = Ends.of(i % 2 == 0 ? guest.vm() : alone.vm());
            var rule =
                    Given.permitted(
                            lab, account, end, Given.at(Matcher.INTERNET, Protocol.TCP, 1000 + i));
            if (i % 3 != 0) {
                lab.networks().deleteRule(account, rule.id().text());
            }
        }
        lab.restart(lab.guests());
        streams.forEach(this::assertNothingLost);
    }

    @Test
    void aConnectionGoesOnWithoutLossWhileAnotherRulePermitsIt() {
        var rules = new ArrayList<Rule>();
        Runnable permit =
                () -> {
                    for (var range : List.of("0.0.0.0/0", "::/0")) {
                        for (var each : List.of(account, stranger)) {
                            rules.add(
                                    Given.permitted(
                                            lab, each, Given.range(range), Given.range(range)));
                        }
                    }
                };
        permit.run();
        var streams = streams();
        for (int i = 0; i < 10; i++) {
            permit.run();
            for (int gone = 0; gone < 4; gone++) {
                var rule = rules.removeFirst();
                lab.networks().deleteRule(rule.account(), rule.id().text());
            }
        }
        streams.forEach(this::assertNothingLost);
    }

    @Test
    void aDeletedRuleRefusesNewConnectionsAtOnceAndCutsOpenOnesBothWays() {
        Given.everythingIsPermitted(lab, account);
        Given.everythingIsPermitted(lab, stranger);
        var streams = streams();
        forbidEverything();
        var ends = List.of(guest, member, alone, foreign);
        streams.forEach(
                stream ->
                        assertEquals(
                                new Flow.Silent(),
                                stream.probe().outcome(elsewhere(stream.flow()), SHORT),
                                stream::toString));
        ends.forEach(end -> end.probe().watch());
        lab.ground().internet().watch();
        var before = streams.stream().map(Stream::count).toList();
        // Whoever was connected to speaks too.
        ends.forEach(end -> end.probe().say("still here"));
        lab.ground().internet().say("still here");
        Wait.through(Duration.ofMillis(600), () -> {});
        for (int i = 0; i < streams.size(); i++) {
            assertEquals(
                    before.get(i).answered(),
                    streams.get(i).count().answered(),
                    streams.get(i)::toString);
        }
        for (var end : ends) {
            assertEquals(
                    List.of(),
                    end.probe().heard().stream()
                            .filter(
                                    frame ->
                                            frame.packet()
                                                    .filter(
                                                            p ->
                                                                    p.protocol() == Frame.UDP
                                                                            || p.protocol()
                                                                                    == Frame.TCP)
                                                    .isPresent())
                            .toList());
        }
    }

    @Test
    void anIcmpErrorBringsBackNoConnectionThatIsCut() {
        for (var protocol : List.of(Protocol.ICMP, Protocol.UDP)) {
            Given.permitted(
                    lab,
                    account,
                    Given.speaking(Ends.of(guest.vm()), protocol),
                    Ends.of(member.vm()));
            Given.permitted(
                    lab,
                    account,
                    Given.speaking(Ends.of(member.vm()), protocol),
                    Ends.of(guest.vm()));
        }
        var rule =
                Given.permitted(
                        lab,
                        account,
                        Ends.of(guest.vm()),
                        Given.at(Ends.of(member.vm()), Protocol.TCP, 80));
        var stream = stream(guest.probe(), Flow.tcp(guest.ipv4(), 40021, member.ipv4(), 80));
        lab.networks().deleteRule(account, rule.id().text());
        var before = stream.count().answered();
        for (var source : List.of(member, guest)) {
            var to = source == member ? guest : member;
            var quoted =
                    new Frame.Path(to.ipv4(), source.ipv4())
                            .packet(Frame.TCP, ports(source == member));
            var error = ByteBuffer.allocate(4 + quoted.length).putInt(1400).put(quoted).array();
            source.probe()
                    .send(
                            new Frame.Link(source.nic().mac(), to.nic().mac())
                                    .ip(
                                            new Frame.Path(source.ipv4(), to.ipv4())
                                                    .icmp(3, 4, error)));
        }
        Wait.through(Duration.ofSeconds(1), () -> {});
        assertEquals(before, stream.count().answered());
    }

    private static byte[] ports(boolean isAsked) {
        return ByteBuffer.allocate(20)
                .putShort((short) (isAsked ? 40021 : 80))
                .putShort((short) (isAsked ? 80 : 40021))
                .array();
    }

    @Test
    void whoeverAsksHearsThatAPortIsClosed() {
        Given.everythingIsPermitted(lab, account);
        Given.everythingIsPermitted(lab, stranger);
        for (var stream : paths()) {
            var closed = to(stream.flow(), 9999);
            assertEquals(
                    new Flow.Refused("ECONNREFUSED"),
                    stream.probe().outcome(closed, PATIENCE),
                    closed::toString);
            var tcp = Flow.tcp(closed.source(), 40031, closed.destination(), 9999);
            assertEquals(
                    new Flow.Refused("ECONNREFUSED"),
                    stream.probe().outcome(tcp, PATIENCE),
                    tcp::toString);
        }
    }

    @Test
    void whoeverSendsTooMuchHearsHowMuchPasses() {
        Given.everythingIsPermitted(lab, account);
        lab.ground().run(Ground.HOSTS_NAME, "ip link set net0 mtu 1400\n");
        try {
            for (var flow :
                    List.of(
                            Flow.udp(alone.ipv4(), 40041, Ground.INTERNET, 80),
                            Flow.udp(alone.publicIpv6(), 40041, Ground.INTERNET_V6, 80))) {
                assertEquals(
                        new Flow.Refused("EMSGSIZE"),
                        alone.probe().outcome(flow.of(1440, true), PATIENCE));
                assertReached(alone.probe(), flow.of(1340, true));
            }
        } finally {
            lab.ground().run(Ground.HOSTS_NAME, "ip link set net0 mtu 1500\n");
        }
    }

    @Test
    void aDatagramInPiecesIsDecidedAboutAsAWhole() {
        for (var each : List.of(account, stranger)) {
            for (var range : List.of("0.0.0.0/0", "::/0")) {
                Given.permitted(
                        lab,
                        each,
                        Given.range(range),
                        Given.at(Given.range(range), Protocol.UDP, 80));
            }
        }
        for (var stream : paths()) {
            assertReached(stream.probe(), stream.flow().of(5000, false));
            assertEquals(
                    new Flow.Silent(),
                    stream.probe().outcome(to(stream.flow(), 443).of(5000, false), SHORT));
        }
    }

    /// By every kind of path, UDP.
    private List<Stream> paths() {
        return List.of(
                new Stream(guest.probe(), Flow.udp(guest.ipv4(), 40011, member.ipv4(), 80)),
                new Stream(
                        guest.probe(),
                        Flow.udp(guest.privateIpv6(), 40011, member.privateIpv6(), 80)),
                new Stream(
                        guest.probe(),
                        Flow.udp(guest.publicIpv6(), 40011, member.publicIpv6(), 80)),
                new Stream(
                        guest.probe(), Flow.udp(guest.publicIpv6(), 40011, alone.publicIpv6(), 80)),
                new Stream(
                        foreign.probe(),
                        Flow.udp(foreign.publicIpv6(), 40011, guest.publicIpv6(), 80)),
                new Stream(guest.probe(), Flow.udp(guest.ipv4(), 40011, Ground.INTERNET, 80)),
                new Stream(
                        alone.probe(), Flow.udp(alone.publicIpv6(), 40011, Ground.INTERNET_V6, 80)),
                new Stream(
                        lab.ground().internet(),
                        Flow.udp(Ground.INTERNET_V6, 40011, guest.publicIpv6(), 80)));
    }

    /// Open ones on all of them, by UDP and by TCP.
    private List<Stream> streams() {
        var streams = new ArrayList<Stream>();
        for (var path : paths()) {
            var flow = path.flow();
            streams.add(stream(path.probe(), flow));
            streams.add(
                    stream(path.probe(), Flow.tcp(flow.source(), 40012, flow.destination(), 80)));
        }
        return streams;
    }

    private Stream stream(Probe probe, Flow flow) {
        var stream = new Stream(probe, flow);
        probe.stream(flow, STEADY);
        open.add(stream);
        Wait.until(
                PATIENCE, () -> stream.count().answered() > 2, () -> "does not begin: " + stream);
        return stream;
    }

    private void assertNothingLost(Stream stream) {
        stream.probe().rest(stream.flow());
        Wait.until(
                PATIENCE,
                () -> stream.count().answered() == stream.count().sent(),
                () -> "lost: %s of %s".formatted(stream.count(), stream));
        assertEquals(0, stream.count().wrong(), stream::toString);
    }

    private static Flow to(Flow flow, int port) {
        return Flow.of(flow.protocol(), flow.source(), flow.sourcePort(), flow.destination(), port);
    }

    /// Another connection of the same kind.
    private static Flow elsewhere(Flow flow) {
        return Flow.of(flow.protocol(), flow.source(), 40013, flow.destination(), 80);
    }

    private static void assertReached(Probe probe, Flow flow) {
        var outcome = probe.outcome(flow, PATIENCE);
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }
}
