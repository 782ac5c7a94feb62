package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Where rules permit everything, a guest still is nobody but itself.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpoofedIT {
    private static final String GATEWAY_MAC = "02:c0:00:00:00:00";
    private static final String NOBODYS_MAC = "02:c0:00:00:00:77";
    private static final String MARK = "spoofed";

    private static final int NEIGHBOR_SOLICITATION = 135;
    private static final int NEIGHBOR_ADVERTISEMENT = 136;
    private static final int ROUTER_ADVERTISEMENT = 134;
    private static final int REDIRECT = 137;
    private static final IpAddress ALL_NODES = IpAddress.stored("ff02::1");

    private final AccountId account = AccountId.random();
    private Lab lab;
    private Guest guest;
    private Guest victim;
    private Guest other;

    @BeforeAll
    void threeMembersOfANetworkWhereEverythingIsPermitted() {
        lab = new Lab();
        var vpc = Given.vpc(lab, account, "10.3.0.0/24");
        Given.everythingIsPermitted(lab, account);
        guest = Given.member(lab, account, vpc);
        victim = Given.member(lab, account, vpc);
        other = Given.member(lab, account, vpc);
    }

    @AfterAll
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    void whatIsWrittenAsItIsArrives() {
        assertHeard(toVictim().ip(path(guest.ipv4(), victim.ipv4()).udp(40009, 80, MARK)));
        assertHeard(
                toVictim()
                        .ip(path(guest.privateIpv6(), victim.privateIpv6()).udp(40009, 80, MARK)));
        var packet = path(guest.publicIpv6(), victim.publicIpv6()).udp(40009, 80, MARK);
        victim.probe().watch();
        Frame.fragments(packet, 8).forEach(piece -> guest.probe().send(toVictim().ip(piece)));
        Wait.until(
                Duration.ofSeconds(5),
                () -> !icmp(victim.probe().heard()).toList().isEmpty(),
                () -> "no fragments heard");
        assertHeard(
                toGateway().ip(path(guest.publicIpv6(), victim.publicIpv6()).udp(40009, 80, MARK)));
    }

    @Test
    void aFrameOfAnotherStationPassesNowhere() {
        for (var mac : List.of(other.nic().mac(), NOBODYS_MAC, GATEWAY_MAC)) {
            var packet = path(guest.ipv4(), victim.ipv4()).udp(40009, 80, MARK);
            assertNotHeard(new Frame.Link(mac, victim.nic().mac()).ip(packet));
            assertNotHeard(new Frame.Link(mac, GATEWAY_MAC).ip(packet));
        }
    }

    @Test
    void aPacketFromAnAddressOfSomebodyElsePassesNowhere() {
        var others =
                List.of(
                        other.ipv4(),
                        other.privateIpv6(),
                        other.publicIpv6(),
                        linkLocal(other),
                        Fabric.GATEWAY,
                        Fabric.GATEWAY_V6,
                        lab.settings().platform(),
                        lab.settings().slot(guest.nic().slot()),
                        Ground.INTERNET,
                        Ground.INTERNET_V6,
                        IpAddress.stored("10.3.0.99"),
                        IpAddress.stored("0.0.0.0"),
                        IpAddress.stored("::"));
        for (var source : others) {
            var to = source.isV6() ? victim.publicIpv6() : victim.ipv4();
            var packet = path(source, to).udp(40009, 80, MARK);
            assertNotHeard(toVictim().ip(packet));
            assertNotHeard(toGateway().ip(packet));
        }
    }

    @Test
    void aPacketToTheInternetHasItsSendersAddressOrDoesNotLeave() {
        var internet = lab.ground().internet();
        for (var source : List.of(other.publicIpv6(), Ground.HOST_V6, other.ipv4(), Ground.HOST)) {
            var to = source.isV6() ? Ground.INTERNET_V6 : Ground.INTERNET;
            internet.watch();
            guest.probe().send(toGateway().ip(path(source, to).udp(40009, 80, MARK)));
            assertReached(Flow.udp(guest.publicIpv6(), 40010, Ground.INTERNET_V6, 80));
            assertEquals(
                    List.of(), internet.heard().stream().filter(f -> f.contains(MARK)).toList());
        }
    }

    @Test
    void aFrameOfAVlanPassesNowhere() {
        var packet = path(guest.ipv4(), victim.ipv4()).udp(40009, 80, MARK);
        assertNotHeard(toVictim().tagged(Frame.IPV4, packet));
        assertNotHeard(toGateway().tagged(Frame.IPV4, packet));
    }

    @Test
    void nobodyHearsWhatIsSaidToAll() {
        var groups = List.of("255.255.255.255", "10.3.0.255", "224.0.0.251", "ff02::1", "ff02::fb");
        var macs = List.of(Frame.Link.BROADCAST, "01:00:5e:00:00:fb", "33:33:00:00:00:01");
        for (var to : groups) {
            var address = IpAddress.stored(to);
            var source = address.isV6() ? linkLocal(guest) : guest.ipv4();
            var packet = path(source, address).udp(40009, 80, MARK);
            macs.forEach(mac -> assertNotHeard(link(mac).ip(packet)));
            assertNotHeard(link(NOBODYS_MAC).ip(packet));
            assertNotHeard(toGateway().ip(packet));
        }
        for (var to : List.of(victim.ipv4(), victim.publicIpv6())) {
            var source = to.isV6() ? guest.publicIpv6() : guest.ipv4();
            var packet = path(source, to).udp(40009, 80, MARK);
            macs.forEach(mac -> assertNotHeard(link(mac).ip(packet)));
        }
        for (var group : List.of("224.0.0.251", "255.255.255.255", "ff02::1")) {
            var to = IpAddress.stored(group);
            var source = to.isV6() ? linkLocal(guest) : guest.ipv4();
            assertNotHeard(toVictim().ip(path(source, to).udp(40009, 80, MARK)));
        }
    }

    @Test
    void arpIsAnsweredForWhoeverIsAskedAndNobodyHearsIt() {
        victim.probe().watch();
        guest.probe().watch();
        guest.probe()
                .send(
                        link(Frame.Link.BROADCAST)
                                .arp(1, guest.nic().mac(), guest.ipv4(), victim.ipv4()));
        Wait.until(
                Duration.ofSeconds(5),
                () ->
                        guest.probe().heard().stream()
                                .anyMatch(
                                        f -> f.type() == Frame.ARP && f.isFrom(victim.nic().mac())),
                () -> "nobody answers");
        assertEquals(List.of(), heard(Frame.ARP));
    }

    @Test
    void nobodySaysByArpWhereSomebodyElseIs() {
        for (var mac : List.of(guest.nic().mac(), other.nic().mac())) {
            for (var to : List.of(victim.nic().mac(), Frame.Link.BROADCAST, GATEWAY_MAC)) {
                for (int operation : new int[] {1, 2}) {
                    victim.probe().watch();
                    guest.probe().send(link(to).arp(operation, mac, other.ipv4(), victim.ipv4()));
                    guest.probe().send(link(to).arp(operation, mac, Fabric.GATEWAY, victim.ipv4()));
                    assertReached(Flow.udp(guest.ipv4(), 40010, victim.ipv4(), 80));
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
                        other.privateIpv6(),
                        other.publicIpv6(),
                        linkLocal(other),
                        Fabric.GATEWAY_V6)) {
            var body = target(target, 2, guest.nic().mac());
            // Where the address would be if there were no options: one that the guest has.
            var options =
                    ByteBuffer.allocate(36)
                            .put(4, linkLocal(guest).bytes())
                            .put(20, linkLocal(guest).bytes())
                            .array();
            for (var to : List.of(linkLocal(victim), ALL_NODES)) {
                var mac = to.equals(ALL_NODES) ? "33:33:00:00:00:01" : victim.nic().mac();
                var path = path(linkLocal(guest), to);
                assertNoIcmpHeard(link(mac), path.icmp(NEIGHBOR_ADVERTISEMENT, 0, body));
                assertNoIcmpHeard(
                        link(mac), path.icmpBehindOptions(NEIGHBOR_ADVERTISEMENT, options, body));
            }
            guest.probe()
                    .send(
                            toGateway()
                                    .ip(
                                            path(linkLocal(guest), Fabric.GATEWAY_V6)
                                                    .icmp(NEIGHBOR_ADVERTISEMENT, 0, body)));
        }
        assertEverybodyIsWhereItWas();
    }

    @Test
    void nobodyIsARouter() {
        var advertised = ByteBuffer.allocate(12).putInt(0x40000708).array();
        var redirected =
                ByteBuffer.allocate(36)
                        .put(4, linkLocal(guest).bytes())
                        .put(20, Ground.INTERNET_V6.bytes())
                        .array();
        for (var to : List.of(linkLocal(victim), ALL_NODES, victim.publicIpv6())) {
            var mac = to.equals(ALL_NODES) ? "33:33:00:00:00:01" : victim.nic().mac();
            var path = path(linkLocal(guest), to);
            assertNoIcmpHeard(link(mac), path.icmp(ROUTER_ADVERTISEMENT, 0, advertised));
            assertNoIcmpHeard(
                    link(mac),
                    path.icmpBehindOptions(ROUTER_ADVERTISEMENT, new byte[12], advertised));
            assertNoIcmpHeard(link(mac), path.icmp(REDIRECT, 0, redirected));
        }
    }

    @Test
    void noDiscoveryLeavesItsNetwork() {
        var silent = Given.alone(lab, AccountId.random());
        var internet = lab.ground().internet();
        for (int type : new int[] {NEIGHBOR_SOLICITATION, NEIGHBOR_ADVERTISEMENT}) {
            var out = path(silent.publicIpv6(), Ground.INTERNET_V6);
            var in = path(guest.publicIpv6(), silent.publicIpv6());
            internet.watch();
            silent.probe().watch();
            silent.probe()
                    .send(
                            new Frame.Link(silent.nic().mac(), GATEWAY_MAC)
                                    .ip(
                                            out.icmp(
                                                    type,
                                                    0,
                                                    target(out.destination(), 2, NOBODYS_MAC))));
            guest.probe()
                    .send(
                            toGateway()
                                    .ip(
                                            in.icmp(
                                                    type,
                                                    0,
                                                    target(in.destination(), 2, NOBODYS_MAC))));
            assertReached(Flow.udp(guest.publicIpv6(), 40010, Ground.INTERNET_V6, 80));
            for (var probe : List.of(internet, silent.probe())) {
                assertEquals(
                        List.of(),
                        probe.heard().stream()
                                .filter(
                                        frame ->
                                                frame.packet()
                                                        .filter(p -> p.protocol() == Frame.ICMPV6)
                                                        .filter(
                                                                p ->
                                                                        p.source()
                                                                                        .equals(
                                                                                                out
                                                                                                        .source())
                                                                                || p.source()
                                                                                        .equals(
                                                                                                in
                                                                                                        .source()))
                                                        .isPresent())
                                .toList());
            }
        }
        lab.leave(silent);
    }

    @Test
    void onlyWhoIsAskedForHearsASolicitation() {
        for (var target : List.of(victim.privateIpv6(), victim.publicIpv6(), linkLocal(victim))) {
            var solicitation =
                    path(
                                    linkLocal(guest),
                                    IpAddress.v6(
                                            0xff02L << 48, 0x1ff000000L | target.low() & 0xffffff))
                            .icmp(NEIGHBOR_SOLICITATION, 0, target(target, 1, guest.nic().mac()));
            var frame =
                    link("33:33:ff:%02x:%02x:%02x"
                                    .formatted(
                                            target.low() >> 16 & 0xff,
                                            target.low() >> 8 & 0xff,
                                            target.low() & 0xff))
                            .ip(solicitation);
            other.probe().watch();
            victim.probe().watch();
            guest.probe().send(frame);
            Wait.until(
                    Duration.ofSeconds(5),
                    () -> icmp(victim.probe().heard()).count() > 0,
                    () -> "not heard");
            assertReached(Flow.udp(guest.ipv4(), 40010, other.ipv4(), 80));
            assertEquals(List.of(), icmp(other.probe().heard()).toList());
        }
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

    private static IpAddress linkLocal(Guest guest) {
        return new Tap(guest.nic(), new Holder.User(0)).linkLocal();
    }

    private static Frame.Path path(IpAddress source, IpAddress destination) {
        return new Frame.Path(source, destination);
    }

    private Frame.Link link(String to) {
        return new Frame.Link(guest.nic().mac(), to);
    }

    private Frame.Link toVictim() {
        return link(victim.nic().mac());
    }

    private Frame.Link toGateway() {
        return link(GATEWAY_MAC);
    }

    private void assertHeard(Frame frame) {
        victim.probe().watch();
        guest.probe().send(frame);
        Wait.until(
                Duration.ofSeconds(5),
                () -> victim.probe().heard().stream().anyMatch(heard -> heard.contains(MARK)),
                () -> "not heard: " + frame);
    }

    /// What is sent after it has arrived, but it has not.
    private void assertNotHeard(Frame frame) {
        var neighbors = List.of(victim.probe(), other.probe());
        neighbors.forEach(Probe::watch);
        guest.probe().send(frame);
        assertReached(Flow.udp(guest.ipv4(), 40010, victim.ipv4(), 80));
        assertReached(Flow.udp(guest.publicIpv6(), 40010, other.publicIpv6(), 80));
        for (var neighbor : neighbors) {
            assertEquals(
                    List.of(),
                    neighbor.heard().stream().filter(heard -> heard.contains(MARK)).toList(),
                    () -> "sent as " + frame);
        }
    }

    /// As it is, and in pieces of which the first does not say what it is about, or not even what it is.
    private void assertNoIcmpHeard(Frame.Link link, byte[] packet) {
        var sent =
                List.of(List.of(packet), Frame.fragments(packet, 8), Frame.fragments(packet, 16));
        for (var pieces : sent) {
            victim.probe().watch();
            other.probe().watch();
            pieces.forEach(piece -> guest.probe().send(link.ip(piece)));
            assertReached(Flow.udp(guest.ipv4(), 40010, victim.ipv4(), 80));
            assertReached(Flow.udp(guest.ipv4(), 40010, other.ipv4(), 80));
            var heard =
                    Stream.of(victim, other)
                            .flatMap(neighbor -> icmp(neighbor.probe().heard()))
                            .toList();
            assertEquals(List.of(), heard, () -> "sent as " + link.ip(packet));
        }
    }

    /// With options before it, the packet is not of ICMP at first sight.
    private Stream<Frame> icmp(List<Frame> frames) {
        return frames.stream()
                .filter(frame -> frame.isFrom(guest.nic().mac()) && frame.type() == Frame.IPV6);
    }

    private List<Frame> heard(int type) {
        return victim.probe().heard().stream().filter(frame -> frame.type() == type).toList();
    }

    private void assertReached(Flow flow) {
        var outcome = guest.probe().outcome(flow, Duration.ofSeconds(5));
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }

    private void assertEverybodyIsWhereItWas() {
        for (var flow :
                List.of(
                        Flow.icmp(victim.ipv4(), other.ipv4()),
                        Flow.icmp(victim.privateIpv6(), other.privateIpv6()),
                        Flow.icmp(victim.publicIpv6(), Ground.INTERNET_V6))) {
            guest.probe().watch();
            assertTrue(
                    victim.probe().outcome(flow, Duration.ofSeconds(5)) instanceof Flow.Reached,
                    flow::toString);
            assertEquals(
                    List.of(),
                    guest.probe().heard().stream()
                            .filter(frame -> frame.contains(flow.id()))
                            .toList());
        }
    }
}
