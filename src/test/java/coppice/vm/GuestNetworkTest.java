package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.guest.NetworkSettings;
import coppice.identity.AccountId;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.StaticRoute;
import coppice.network.Vpc;
import coppice.network.VpcId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GuestNetworkTest {
    private static final AccountId ADA = AccountId.random();
    private static final Optional<IpAddress> PUBLIC = address("2001:db8::7");
    private static final Vpc VPC =
            new Vpc(
                    VpcId.random(),
                    ADA,
                    Cidr.stored("10.20.0.0/20"),
                    Cidr.stored("fd00:1::/64"),
                    Optional.empty(),
                    Optional.empty(),
                    Instant.EPOCH);

    @Test
    void aVmInNoNetworkIsAloneBehindTheGateway() {
        var settings =
                GuestNetwork.of(
                        nic(Optional.empty(), Optional.empty()), Optional.empty(), List.of(), 1500);
        assertEquals("02:c0:00:00:01:02", settings.deviceAddress());
        assertEquals(List.of("192.0.0.2/29"), settings.addresses());
        assertEquals(List.of("192.0.0.1"), settings.gateways());
        assertEquals(List.of("192.0.0.1"), settings.resolvers());
    }

    @Test
    void aMemberHasItsAddressesWithTheNetworksPrefixesAndAPublicOneForItself() {
        var settings = of(PUBLIC);
        assertEquals(
                List.of("10.20.0.5/20", "fd00:1::5/64", "2001:db8::7/128"), settings.addresses());
        assertEquals(List.of("192.0.0.1", "fe80::1"), settings.gateways());
    }

    @Test
    void routesAreTheUsersButThoseByTheVmItself() {
        var settings =
                of(
                        PUBLIC,
                        route("172.16.0.0/12", "10.20.0.9", 5),
                        route("1.0.0.0/8", "10.20.0.5", 0));
        assertEquals(
                List.of(new NetworkSettings.Route("172.16.0.0/12", "10.20.0.9", 5)),
                settings.routes());
    }

    @Test
    void aDefaultRouteOfTheUsersTakesTheGatewaysPlaceAndTheNameServerStays() {
        var settings = of(PUBLIC, route("0.0.0.0/0", "10.20.0.9", 0));
        assertEquals(List.of("fe80::1"), settings.gateways());
        assertEquals(
                List.of(
                        new NetworkSettings.Route("0.0.0.0/0", "10.20.0.9", 0),
                        new NetworkSettings.Route("192.0.0.1/32", "192.0.0.1", 0)),
                settings.routes());
        var less = of(PUBLIC, route("0.0.0.0/0", "10.20.0.9", 100));
        assertEquals(List.of("192.0.0.1", "fe80::1"), less.gateways());
    }

    private static NetworkSettings of(Optional<IpAddress> publicIpv6, StaticRoute... routes) {
        var place =
                new Membership(
                        VPC.id(), address("10.20.0.5"), address("fd00:1::5"), List.of(routes));
        return GuestNetwork.of(
                nic(publicIpv6, Optional.of(place)), Optional.of(VPC), List.of(), 1500);
    }

    private static StaticRoute route(String cidr, String via, long metric) {
        return new StaticRoute(Cidr.stored(cidr), IpAddress.stored(via), metric);
    }

    private static Nic nic(Optional<IpAddress> publicIpv6, Optional<Membership> place) {
        return new Nic(new MemberId("vm-1"), ADA, 0x102, publicIpv6, place);
    }

    private static Optional<IpAddress> address(String text) {
        return Optional.of(IpAddress.stored(text));
    }
}
