package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.fabric.Lab.Guest;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.Protocol;
import coppice.network.Rule;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What becomes of a connection while rules change.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenConnectionsIT {
    private static final int CHANGES = 80;

    private Paths paths;

    @BeforeAll
    void open() {
        paths = new Paths();
    }

    @AfterEach
    void clear() {
        paths.clear();
    }

    @AfterAll
    void close() {
        if (paths != null) {
            paths.close();
        }
    }

    @Test
    void anOpenConnectionLosesNothingWhileOthersChange() {
        paths.permitEverything();
        var streams = paths.streams();
        for (int i = 0; i < CHANGES; i++) {
            var end = Ends.of(i % 2 == 0 ? paths.guest().vm() : paths.alone().vm());
            var rule =
                    Given.permitted(
                            paths.lab(),
                            paths.account(),
                            end,
                            Given.at(Matcher.INTERNET, Protocol.TCP, 1000 + i));
            if (i % 3 != 0) {
                paths.lab().networks().deleteRule(paths.account(), rule.id().text());
            }
        }
        paths.lab().restart(paths.lab().guests());
        streams.forEach(this::assertNothingLost);
    }

    @Test
    void aConnectionGoesOnWithoutLossWhileAnotherRulePermitsIt() {
        var rules = new ArrayList<Rule>();
        Runnable permit =
                () -> {
                    for (var range : List.of("0.0.0.0/0", "::/0")) {
                        for (var each : paths.accounts()) {
                            rules.add(
                                    Given.permitted(
                                            paths.lab(),
                                            each,
                                            Given.range(range),
                                            Given.range(range)));
                        }
                    }
                };
        permit.run();
        var streams = paths.streams();
        for (int i = 0; i < 10; i++) {
            permit.run();
            for (int gone = 0; gone < 4; gone++) {
                var rule = rules.removeFirst();
                paths.lab().networks().deleteRule(rule.account(), rule.id().text());
            }
        }
        streams.forEach(this::assertNothingLost);
    }

    @Test
    void aDeletedRuleRefusesNewConnectionsAtOnceAndCutsOpenOnesBothWays() {
        paths.permitEverything();
        var streams = paths.streams();
        paths.forbidEverything();
        paths.assertSilent(flow -> Flow.udp(flow.source(), 40013, flow.destination(), 80));
        paths.assertSilent(flow -> Flow.tcp(flow.source(), 40013, flow.destination(), 80));
        var ends = new ArrayList<Probe>(List.of(paths.lab().ground().internet()));
        paths.lab().guests().forEach(end -> ends.add(end.probe()));
        ends.forEach(Probe::watch);
        var before = streams.stream().map(stream -> stream.count().answered()).toList();
        // Whoever was connected to speaks too.
        int hearers = ends.stream().mapToInt(end -> end.say("still here")).sum();
        assertTrue(hearers >= streams.size() / 2, () -> "only %d".formatted(hearers));
        Wait.through(Duration.ofMillis(600), () -> {});
        assertEquals(before, streams.stream().map(stream -> stream.count().answered()).toList());
        ends.forEach(
                end ->
                        assertEquals(
                                List.of(), end.heard().stream().filter(this::isSpoken).toList()));
    }

    private boolean isSpoken(Frame frame) {
        return frame.packet()
                .filter(packet -> Set.of(Frame.TCP, Frame.UDP).contains(packet.protocol()))
                .isPresent();
    }

    @Test
    void anIcmpErrorBringsBackNoConnectionThatIsCut() {
        var guest = paths.guest();
        var member = paths.member();
        var icmp = Given.speaking(Given.range("10.6.0.0/24"), Protocol.ICMP);
        Given.permitted(paths.lab(), paths.account(), icmp, icmp);
        var port = Given.at(Ends.of(member.vm()), Protocol.TCP, 80);
        var rule = Given.permitted(paths.lab(), paths.account(), Ends.of(guest.vm()), port);
        var flow = Flow.tcp(guest.ipv4(), 40021, member.ipv4(), 80);
        var stream = paths.stream(guest.probe(), flow);
        paths.lab().networks().deleteRule(paths.account(), rule.id().text());
        var before = stream.count().answered();
        member.probe().send(error(member, guest, 40021, 80));
        guest.probe().send(error(guest, member, 80, 40021));
        Wait.through(Duration.ofSeconds(1), () -> {});
        assertEquals(before, stream.count().answered());
    }

    /// That a packet which the other one sent is too long.
    private static Frame error(Guest from, Guest to, int sourcePort, int destinationPort) {
        var ports = ByteBuffer.allocate(20).putShort((short) sourcePort);
        ports.putShort((short) destinationPort);
        var quoted = new Frame.Path(to.ipv4(), from.ipv4()).packet(Frame.TCP, ports.array());
        var rest = ByteBuffer.allocate(4 + quoted.length).putInt(1400).put(quoted).array();
        return new Frame.Link(from.nic().mac(), to.nic().mac())
                .ip(new Frame.Path(from.ipv4(), to.ipv4()).icmp(3, 4, rest));
    }

    private void assertNothingLost(Paths.Stream stream) {
        stream.probe().rest(stream.flow());
        Wait.until(
                Paths.PATIENCE,
                () -> stream.count().answered() == stream.count().sent(),
                () -> "lost: %s of %s".formatted(stream.count(), stream));
        assertEquals(0, stream.count().wrong(), stream::toString);
    }
}
