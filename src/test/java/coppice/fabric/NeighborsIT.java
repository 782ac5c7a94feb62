package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Nobody says where somebody else is, and nobody but who is asked for hears the question.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NeighborsIT {
    private static final int NEIGHBOR_SOLICITATION = 135;
    private static final int NEIGHBOR_ADVERTISEMENT = 136;
    private static final int ROUTER_ADVERTISEMENT = 134;
    private static final int REDIRECT = 137;
    private static final IpAddress ALL_NODES = IpAddress.stored("ff02::1");

    private Trio trio;

    @BeforeAll
    void threeMembersOfANetworkWhereEverythingIsPermitted() {
        trio = new Trio();
    }

    @AfterAll
    void close() {
        if (trio != null) {
            trio.close();
        }
    }

    @Test
    void arpIsAnsweredForWhoeverIsAskedAndNobodyHearsIt() {
        trio.victim().probe().watch();
        trio.guest().probe().watch();
        trio.guest()
                .probe()
                .send(
                        trio.link(Frame.Link.BROADCAST)
                                .arp(
                                        1,
                                        trio.guest().nic().mac(),
                                        trio.guest().ipv4(),
                                        trio.victim().ipv4()));
        Wait.until(
                Trio.PATIENCE,
                () ->
                        trio.guest().probe().heard().stream()
                                .anyMatch(
                                        f ->
                                                f.type() == Frame.ARP
                                                        && f.isFrom(trio.victim().nic().mac())),
                () -> "nobody answers");
        assertEquals(List.of(), heard(Frame.ARP));
    }

    @Test
    void nobodySaysByArpWhereSomebodyElseIs() {
        for (var mac : List.of(trio.guest().nic().mac(), trio.other().nic().mac())) {
            for (var to :
                    List.of(trio.victim().nic().mac(), Frame.Link.BROADCAST, Trio.GATEWAY_MAC)) {
                for (int operation : new int[] {1, 2}) {
                    trio.victim().probe().watch();
                    trio.guest()
                            .probe()
                            .send(
                                    trio.link(to)
                                            .arp(
                                                    operation,
                                                    mac,
                                                    trio.other().ipv4(),
                                                    trio.victim().ipv4()));
                    trio.guest()
                            .probe()
                            .send(
                                    trio.link(to)
                                            .arp(
                                                    operation,
                                                    mac,
                                                    Fabric.GATEWAY,
                                                    trio.victim().ipv4()));
                    trio.assertReached(
                            Flow.udp(trio.guest().ipv4(), 40010, trio.victim().ipv4(), 80));
                    assertEquals(List.of(), heard(Frame.ARP));
                }
            }
        }
        assertEverybodyIsWhereItWas();
    }

    @Test
    void nobodySaysByNeighborDiscoveryWhereSomebodyElseIs() {
        for (var target :
                List.of(
                        trio.other().privateIpv6(),
                        trio.other().publicIpv6(),
                        Trio.linkLocal(trio.other()),
                        Fabric.GATEWAY_V6)) {
            var body = target(target, 2, trio.guest().nic().mac());
            // Where the address would be if there were no options: one that the guest has.
            var options =
                    ByteBuffer.allocate(36)
                            .put(4, Trio.linkLocal(trio.guest()).bytes())
                            .put(20, Trio.linkLocal(trio.guest()).bytes())
                            .array();
            for (var to : List.of(Trio.linkLocal(trio.victim()), ALL_NODES)) {
                var mac = to.equals(ALL_NODES) ? "33:33:00:00:00:01" : trio.victim().nic().mac();
                var path = Trio.path(Trio.linkLocal(trio.guest()), to);
                assertNoIcmpHeard(trio.link(mac), path.icmp(NEIGHBOR_ADVERTISEMENT, 0, body));
                assertNoIcmpHeard(
                        trio.link(mac),
                        path.icmpBehindOptions(NEIGHBOR_ADVERTISEMENT, options, body));
            }
            trio.guest()
                    .probe()
                    .send(
                            trio.toGateway()
                                    .ip(
                                            Trio.path(
                                                            Trio.linkLocal(trio.guest()),
                                                            Fabric.GATEWAY_V6)
                                                    .icmp(NEIGHBOR_ADVERTISEMENT, 0, body)));
        }
        assertEverybodyIsWhereItWas();
    }

    @Test
    void nobodyIsARouter() {
        var advertised = ByteBuffer.allocate(12).putInt(0x40000708).array();
        var redirected =
                ByteBuffer.allocate(36)
                        .put(4, Trio.linkLocal(trio.guest()).bytes())
                        .put(20, Ground.INTERNET_V6.bytes())
                        .array();
        for (var to :
                List.of(Trio.linkLocal(trio.victim()), ALL_NODES, trio.victim().publicIpv6())) {
            var mac = to.equals(ALL_NODES) ? "33:33:00:00:00:01" : trio.victim().nic().mac();
            var path = Trio.path(Trio.linkLocal(trio.guest()), to);
            assertNoIcmpHeard(trio.link(mac), path.icmp(ROUTER_ADVERTISEMENT, 0, advertised));
            assertNoIcmpHeard(
                    trio.link(mac),
                    path.icmpBehindOptions(ROUTER_ADVERTISEMENT, new byte[12], advertised));
            assertNoIcmpHeard(trio.link(mac), path.icmp(REDIRECT, 0, redirected));
        }
    }

    @Test
    void onlyWhoIsAskedForHearsASolicitation() {
        for (var target :
                List.of(
                        trio.victim().privateIpv6(),
                        trio.victim().publicIpv6(),
                        Trio.linkLocal(trio.victim()))) {
            var solicitation =
                    Trio.path(
                                    Trio.linkLocal(trio.guest()),
                                    IpAddress.v6(
                                            0xff02L << 48, 0x1ff000000L | target.low() & 0xffffff))
                            .icmp(
                                    NEIGHBOR_SOLICITATION,
                                    0,
                                    target(target, 1, trio.guest().nic().mac()));
            var frame =
                    trio.link(
                                    "33:33:ff:%02x:%02x:%02x"
                                            .formatted(
                                                    target.low() >> 16 & 0xff,
                                                    target.low() >> 8 & 0xff,
                                                    target.low() & 0xff))
                            .ip(solicitation);
            trio.other().probe().watch();
            trio.victim().probe().watch();
            trio.guest().probe().send(frame);
            Wait.until(
                    Trio.PATIENCE,
                    () -> icmp(trio.victim().probe().heard()).count() > 0,
                    () -> "not heard");
            trio.assertReached(Flow.udp(trio.guest().ipv4(), 40010, trio.other().ipv4(), 80));
            assertEquals(List.of(), icmp(trio.other().probe().heard()).toList());
        }
    }

    @Test
    void noDiscoveryLeavesItsNetwork() {
        var silent = Given.alone(trio.lab(), AccountId.random());
        var internet = trio.lab().ground().internet();
        var own = new Frame.Link(silent.nic().mac(), Trio.GATEWAY_MAC);
        var out = Trio.path(silent.publicIpv6(), Ground.INTERNET_V6);
        var in = Trio.path(trio.guest().publicIpv6(), silent.publicIpv6());
        for (int type : new int[] {NEIGHBOR_SOLICITATION, NEIGHBOR_ADVERTISEMENT}) {
            internet.watch();
            silent.probe().watch();
            silent.probe().send(own.ip(about(out, type)));
            trio.guest().probe().send(trio.toGateway().ip(about(in, type)));
            trio.assertReached(Flow.udp(trio.guest().publicIpv6(), 40010, Ground.INTERNET_V6, 80));
            assertEquals(List.of(), from(out.source(), internet));
            assertEquals(List.of(), from(in.source(), silent.probe()));
        }
        trio.lab().leave(silent);
    }

    private static byte[] about(Frame.Path path, int type) {
        return path.icmp(type, 0, target(path.destination(), 2, Trio.NOBODYS_MAC));
    }

    private static List<Frame> from(IpAddress source, Probe listener) {
        return listener.heard().stream()
                .filter(
                        frame ->
                                frame.packet()
                                        .filter(packet -> packet.protocol() == Frame.ICMPV6)
                                        .filter(packet -> packet.source().equals(source))
                                        .isPresent())
                .toList();
    }

    /// The flags of an answer that was asked for and replaces what was known, an address, and where it is.
    private static byte[] target(IpAddress target, int option, String mac) {
        return ByteBuffer.allocate(28)
                .putInt(option == 2 ? 0x60000000 : 0)
                .put(target.bytes())
                .put((byte) option)
                .put((byte) 1)
                .put(HexFormat.ofDelimiter(":").parseHex(mac))
                .array();
    }

    /// As it is, and in pieces of which the first does not say what it is about, or not even what it is.
    private void assertNoIcmpHeard(Frame.Link link, byte[] packet) {
        var sent =
                List.of(List.of(packet), Frame.fragments(packet, 8), Frame.fragments(packet, 16));
        for (var pieces : sent) {
            var heard =
                    trio.heardOf(() -> pieces.forEach(p -> trio.guest().probe().send(link.ip(p))));
            assertEquals(List.of(), icmp(heard).toList(), () -> "sent as " + link.ip(packet));
        }
    }

    /// With options before it, the packet is not of ICMP at first sight.
    private Stream<Frame> icmp(List<Frame> frames) {
        return frames.stream()
                .filter(
                        frame ->
                                frame.isFrom(trio.guest().nic().mac())
                                        && frame.type() == Frame.IPV6);
    }

    private List<Frame> heard(int type) {
        return trio.victim().probe().heard().stream()
                .filter(frame -> frame.type() == type)
                .toList();
    }

    private void assertEverybodyIsWhereItWas() {
        for (var flow :
                List.of(
                        Flow.icmp(trio.victim().ipv4(), trio.other().ipv4()),
                        Flow.icmp(trio.victim().privateIpv6(), trio.other().privateIpv6()),
                        Flow.icmp(trio.victim().publicIpv6(), Ground.INTERNET_V6))) {
            trio.guest().probe().watch();
            assertTrue(
                    trio.victim().probe().outcome(flow, Trio.PATIENCE) instanceof Flow.Reached,
                    flow::toString);
            assertEquals(
                    List.of(),
                    trio.guest().probe().heard().stream()
                            .filter(frame -> frame.contains(flow.id()))
                            .toList());
        }
    }
}
