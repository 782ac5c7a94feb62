package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Wait;
import coppice.base.IpAddress;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Where rules permit everything, a guest still is nobody but itself.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpoofedIT {
    private static final String MARK = "spoofed";

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
    void whatIsWrittenAsItIsArrives() {
        assertHeard(
                trio.toVictim()
                        .ip(
                                Trio.path(trio.guest().ipv4(), trio.victim().ipv4())
                                        .udp(40009, 80, MARK)));
        assertHeard(
                trio.toVictim()
                        .ip(
                                Trio.path(trio.guest().privateIpv6(), trio.victim().privateIpv6())
                                        .udp(40009, 80, MARK)));
        var packet =
                Trio.path(trio.guest().publicIpv6(), trio.victim().publicIpv6())
                        .udp(40009, 80, MARK);
        trio.victim().probe().watch();
        Frame.fragments(packet, 8)
                .forEach(piece -> trio.guest().probe().send(trio.toVictim().ip(piece)));
        Wait.until(
                Trio.PATIENCE,
                () ->
                        trio.victim().probe().heard().stream()
                                .anyMatch(f -> f.isFrom(trio.guest().nic().mac())),
                () -> "no fragments heard");
        assertHeard(
                trio.toGateway()
                        .ip(
                                Trio.path(trio.guest().publicIpv6(), trio.victim().publicIpv6())
                                        .udp(40009, 80, MARK)));
    }

    @Test
    void aFrameOfAnotherStationPassesNowhere() {
        for (var mac : List.of(trio.other().nic().mac(), Trio.NOBODYS_MAC, Trio.GATEWAY_MAC)) {
            var packet = Trio.path(trio.guest().ipv4(), trio.victim().ipv4()).udp(40009, 80, MARK);
            assertNotHeard(new Frame.Link(mac, trio.victim().nic().mac()).ip(packet));
            assertNotHeard(new Frame.Link(mac, Trio.GATEWAY_MAC).ip(packet));
        }
    }

    @Test
    void aPacketFromAnAddressOfSomebodyElsePassesNowhere() {
        var others =
                List.of(
                        trio.other().ipv4(),
                        trio.other().privateIpv6(),
                        trio.other().publicIpv6(),
                        Trio.linkLocal(trio.other()),
                        Fabric.GATEWAY,
                        Fabric.GATEWAY_V6,
                        trio.lab().settings().platform(),
                        trio.lab().settings().slot(trio.guest().nic().slot()),
                        Ground.INTERNET,
                        Ground.INTERNET_V6,
                        IpAddress.stored("10.3.0.99"),
                        IpAddress.stored("0.0.0.0"),
                        IpAddress.stored("::"));
        for (var source : others) {
            var to = source.isV6() ? trio.victim().publicIpv6() : trio.victim().ipv4();
            var packet = Trio.path(source, to).udp(40009, 80, MARK);
            assertNotHeard(trio.toVictim().ip(packet));
            assertNotHeard(trio.toGateway().ip(packet));
        }
    }

    @Test
    void aPacketToTheInternetHasItsSendersAddressOrDoesNotLeave() {
        var internet = trio.lab().ground().internet();
        for (var source :
                List.of(
                        trio.other().publicIpv6(),
                        Ground.HOST_V6,
                        trio.other().ipv4(),
                        Ground.HOST)) {
            var to = source.isV6() ? Ground.INTERNET_V6 : Ground.INTERNET;
            internet.watch();
            trio.guest()
                    .probe()
                    .send(trio.toGateway().ip(Trio.path(source, to).udp(40009, 80, MARK)));
            trio.assertReached(Flow.udp(trio.guest().publicIpv6(), 40010, Ground.INTERNET_V6, 80));
            assertEquals(
                    List.of(), internet.heard().stream().filter(f -> f.contains(MARK)).toList());
        }
    }

    @Test
    void aFrameOfAVlanPassesNowhere() {
        var packet = Trio.path(trio.guest().ipv4(), trio.victim().ipv4()).udp(40009, 80, MARK);
        assertNotHeard(trio.toVictim().tagged(Frame.IPV4, packet));
        assertNotHeard(trio.toGateway().tagged(Frame.IPV4, packet));
    }

    @Test
    void nobodyHearsWhatIsSaidToAll() {
        var groups = List.of("255.255.255.255", "10.3.0.255", "224.0.0.251", "ff02::1", "ff02::fb");
        var macs = List.of(Frame.Link.BROADCAST, "01:00:5e:00:00:fb", "33:33:00:00:00:01");
        for (var to : groups) {
            var address = IpAddress.stored(to);
            var source = address.isV6() ? Trio.linkLocal(trio.guest()) : trio.guest().ipv4();
            var packet = Trio.path(source, address).udp(40009, 80, MARK);
            macs.forEach(mac -> assertNotHeard(trio.link(mac).ip(packet)));
            assertNotHeard(trio.link(Trio.NOBODYS_MAC).ip(packet));
            assertNotHeard(trio.toGateway().ip(packet));
        }
        for (var to : List.of(trio.victim().ipv4(), trio.victim().publicIpv6())) {
            var source = to.isV6() ? trio.guest().publicIpv6() : trio.guest().ipv4();
            var packet = Trio.path(source, to).udp(40009, 80, MARK);
            macs.forEach(mac -> assertNotHeard(trio.link(mac).ip(packet)));
        }
        for (var group : List.of("224.0.0.251", "255.255.255.255", "ff02::1")) {
            var to = IpAddress.stored(group);
            var source = to.isV6() ? Trio.linkLocal(trio.guest()) : trio.guest().ipv4();
            assertNotHeard(trio.toVictim().ip(Trio.path(source, to).udp(40009, 80, MARK)));
        }
    }

    private void assertHeard(Frame frame) {
        trio.victim().probe().watch();
        trio.guest().probe().send(frame);
        Wait.until(
                Trio.PATIENCE,
                () -> trio.victim().probe().heard().stream().anyMatch(f -> f.contains(MARK)),
                () -> "not heard: " + frame);
    }

    private void assertNotHeard(Frame frame) {
        var behind = Flow.udp(trio.guest().publicIpv6(), 40010, trio.other().publicIpv6(), 80);
        var heard =
                trio.heardOf(
                        () -> {
                            trio.guest().probe().send(frame);
                            trio.assertReached(behind);
                        });
        assertEquals(
                List.of(),
                heard.stream().filter(f -> f.contains(MARK)).toList(),
                () -> "sent as " + frame);
    }
}
