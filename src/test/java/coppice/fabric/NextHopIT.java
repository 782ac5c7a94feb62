package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.NewMembership;
import coppice.network.StaticRoute;
import coppice.network.VpcId;
import coppice.network.Wanted;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A VM's route leads over another VM of its network.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NextHopIT {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String MARK = "from behind";

    /// Behind the next hop. The ranges of the routes have the network in them.
    private static final IpAddress BEHIND = IpAddress.stored("10.77.0.1");

    private static final IpAddress BEHIND_V6 = IpAddress.stored("fd77::1");
    private static final Cidr NETWORK_V6 = Cidr.stored("fd00:4::/64");

    private final AccountId account = AccountId.random();
    private Lab lab;
    private Guest hop;
    private Guest guest;
    private Guest other;

    @BeforeAll
    void aNextHopAGuestThatHasARouteOverItAndOneThatHasNone() {
        lab = new Lab();
        var vpc = Given.vpc(lab, account, "10.4.0.0/24", NETWORK_V6);
        hop = Given.member(lab, account, vpc);
        guest = lab.guest(account, Optional.of(routed(vpc)));
        other = Given.member(lab, account, vpc);
        Given.everythingIsPermitted(lab, account);
        lab.ground()
                .run(
                        hop.name(),
                        "ip addr add %s/32 dev lo\nip addr add %s/128 dev lo nodad\n"
                                .formatted(BEHIND, BEHIND_V6));
        for (var route : routes()) {
            lab.ground()
                    .run(
                            guest.name(),
                            "ip route add %s via %s\n".formatted(route.cidr(), route.via()));
        }
    }

    @AfterAll
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    private List<StaticRoute> routes() {
        return Stream.of("10.0.0.0/8", "10.77.0.0/16", "fd00::/8")
                .map(Cidr::stored)
                .map(cidr -> new StaticRoute(cidr, cidr.isV6() ? hop.privateIpv6() : hop.ipv4(), 0))
                .toList();
    }

    private NewMembership routed(VpcId vpc) {
        var any = new Wanted.Any();
        return new NewMembership("vpcs[0]", vpc, any, any, routes());
    }

    @Test
    void whatIsBehindItAnswers() {
        for (var flow :
                List.of(
                        Flow.tcp(guest.ipv4(), 40001, BEHIND, 80),
                        Flow.udp(guest.ipv4(), 40001, BEHIND, 80),
                        Flow.icmp(guest.ipv4(), BEHIND),
                        Flow.tcp(guest.privateIpv6(), 40001, BEHIND_V6, 80),
                        Flow.udp(guest.publicIpv6(), 40001, BEHIND_V6, 80),
                        Flow.icmp(guest.privateIpv6(), BEHIND_V6))) {
            var outcome = guest.probe().outcome(flow, PATIENCE);
            assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
        }
        assertEquals(List.of(), lab.restart(lab.guests()));
        var again = Flow.tcp(guest.ipv4(), 40002, BEHIND, 80);
        assertTrue(guest.probe().outcome(again, PATIENCE) instanceof Flow.Reached);
    }

    @Test
    void whatIsBehindItOpensNothing() {
        assertNotHeard(guest, BEHIND, guest.ipv4());
        assertNotHeard(guest, BEHIND_V6, guest.privateIpv6());
    }

    @Test
    void nobodyElseIsAnsweredFromThere() {
        for (var from : List.of(BEHIND, BEHIND_V6)) {
            var own = from.isV6() ? other.privateIpv6() : other.ipv4();
            // To which such a packet would be an answer.
            other.probe().outcome(Flow.udp(own, 40003, from, 80), Duration.ofMillis(100));
            assertNotHeard(other, from, own);
        }
    }

    @Test
    void itIsNobodyElseOfTheNetwork() {
        assertNotHeard(guest, other.ipv4(), guest.ipv4());
        assertNotHeard(guest, other.privateIpv6(), guest.privateIpv6());
        // Not even to those who are being answered by somebody else.
        var flow = Flow.udp(guest.ipv4(), 40003, other.ipv4(), 80);
        assertTrue(guest.probe().outcome(flow, PATIENCE) instanceof Flow.Reached);
        assertNotHeard(guest, other.ipv4(), guest.ipv4());
    }

    /// Of what the next hop sends with a foreign source.
    private void assertNotHeard(Guest hearer, IpAddress from, IpAddress to) {
        hearer.probe().watch();
        var packet = new Frame.Path(from, to).udp(80, 40003, MARK);
        hop.probe().send(new Frame.Link(hop.nic().mac(), hearer.nic().mac()).ip(packet));
        var gone = Flow.udp(hop.ipv4(), 40004, hearer.ipv4(), 80);
        assertTrue(hop.probe().outcome(gone, PATIENCE) instanceof Flow.Reached);
        assertEquals(
                List.of(),
                hearer.probe().heard().stream().filter(frame -> frame.contains(MARK)).toList());
    }
}
