package coppice.vm;

import coppice.base.IpAddress;
import coppice.fabric.Fabric;
import coppice.guest.NetworkSettings;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.StaticRoute;
import coppice.network.Vpc;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// What a guest is told of its network.
final class GuestNetwork {
    private GuestNetwork() {}

    /// @param vpc that the VM is in
    /// @param more routes beside the user's
    static NetworkSettings of(Nic nic, Optional<Vpc> vpc, List<StaticRoute> more, int mtu) {
        return new NetworkSettings(
                nic.mac(),
                mtu,
                Stream.concat(privateOnes(nic, vpc), nic.publicIpv6().map(a -> a + "/128").stream())
                        .toList(),
                gateways(nic),
                routes(nic, more),
                List.of(Fabric.GATEWAY.toString()));
    }

    private static Stream<String> privateOnes(Nic nic, Optional<Vpc> vpc) {
        return vpc.map(
                        network ->
                                nic.membership().stream()
                                        .flatMap(Membership::addresses)
                                        .map(address -> within(network, address)))
                .orElse(Stream.of(Fabric.SOLO + "/" + Fabric.SOLO_PREFIX));
    }

    private static String within(Vpc vpc, IpAddress address) {
        return address + "/" + vpc.range(address.isV6()).prefix();
    }

    /// Who has no public address has no way to the Internet by IPv6. A default route of the user's own takes the gateway's place.
    private static List<String> gateways(Nic nic) {
        return Stream.concat(
                        Stream.of(Fabric.GATEWAY),
                        nic.publicIpv6().map(_ -> Fabric.GATEWAY_V6).stream())
                .filter(gateway -> !hasOwnDefault(nic, gateway.isV6()))
                .map(IpAddress::toString)
                .toList();
    }

    private static boolean hasOwnDefault(Nic nic, boolean isV6) {
        return wanted(nic)
                .anyMatch(
                        route ->
                                route.cidr().prefix() == 0
                                        && route.cidr().isV6() == isV6
                                        && route.metric() == 0);
    }

    private static List<NetworkSettings.Route> routes(Nic nic, List<StaticRoute> more) {
        var routes =
                Stream.concat(wanted(nic), more.stream())
                        .map(
                                route ->
                                        new NetworkSettings.Route(
                                                route.cidr().toString(),
                                                route.via().toString(),
                                                route.metric()));
        // The name server is still there.
        var gateway =
                hasOwnDefault(nic, false)
                        ? Stream.of(
                                new NetworkSettings.Route(
                                        Fabric.GATEWAY + "/32", Fabric.GATEWAY.toString(), 0))
                        : Stream.<NetworkSettings.Route>empty();
        return Stream.concat(routes, gateway).toList();
    }

    /// The user's routes. A next hop that is the VM itself is left out: its kernel would refuse it.
    private static Stream<StaticRoute> wanted(Nic nic) {
        var own = nic.membership().stream().flatMap(Membership::addresses).toList();
        return nic.membership().stream()
                .flatMap(place -> place.routes().stream())
                .filter(route -> !own.contains(route.via()));
    }
}
