package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.network.Attachment;
import coppice.network.Tunnel;
import java.util.List;
import java.util.stream.Stream;

/// A tunnel in one of its networks, and whoever is behind it.
record Seat(TunnelClient client, Tunnel tunnel, Attachment attachment) {
    /// Of an exit, beside everything else: one of the Internet, and one of anybody's.
    private static final IpAddress EXIT = IpAddress.stored("192.31.196.10");

    private static final IpAddress PRIVATE_EXIT = IpAddress.stored("172.30.0.10");
    private static final IpAddress EXIT_V6 = IpAddress.stored("2001:4:112::10");

    static Stream<Seat> of(TunnelClient client, Tunnel tunnel) {
        return tunnel.attachments().stream().map(a -> new Seat(client, tunnel, a));
    }

    /// By which it is known in the network.
    Stream<End.BehindTunnel> own() {
        return attachment
                .addresses()
                .map(
                        address ->
                                new End.BehindTunnel(
                                        tunnel,
                                        address,
                                        address.isV6() ? tunnel.clientV6() : tunnel.clientV4()));
    }

    /// What answers in the network's own range without a route. Of IPv6 nobody asks who has it.
    Stream<End.BehindTunnel> inside() {
        return attachment.remote().stream()
                .filter(range -> !range.isV6() && attachment.cidr().contains(range))
                .map(range -> range.first().plus(1))
                .filter(this::hasItsFamily)
                .map(this::behind);
    }

    /// What a VM needs a route to.
    Stream<End.BehindTunnel> outside() {
        var exits = attachment.isExit() ? exits() : Stream.<Cidr>empty();
        return Stream.concat(
                        remoteOutside().map(range -> range.first().plus(1)), exits.map(Cidr::first))
                .filter(this::hasItsFamily)
                .map(this::behind);
    }

    private Stream<Cidr> exits() {
        return Stream.of(EXIT, PRIVATE_EXIT, EXIT_V6)
                .map(address -> Cidr.of(address.plus(tunnel.number())));
    }

    private Stream<Cidr> remoteOutside() {
        return attachment.remote().stream()
                .filter(range -> attachment.ranges().noneMatch(own -> own.contains(range)));
    }

    private boolean hasItsFamily(IpAddress address) {
        return attachment.addresses().anyMatch(own -> own.isV6() == address.isV6());
    }

    private End.BehindTunnel behind(IpAddress address) {
        return new End.BehindTunnel(tunnel, address, address);
    }

    /// What may come from behind it in this network.
    Stream<End.BehindTunnel> all() {
        return Stream.of(own(), inside(), outside()).flatMap(ends -> ends);
    }

    /// What the client has for it.
    Stream<Cidr> ranges() {
        return attachment.isExit()
                ? Stream.concat(attachment.remote().stream(), exits())
                : attachment.remote().stream();
    }

    /// What a VM of the network writes into its table of routes.
    List<String> routes(Lab.Guest guest) {
        var exits = attachment.isExit() ? exits() : Stream.<Cidr>empty();
        return Stream.concat(remoteOutside(), exits)
                .flatMap(
                        range ->
                                attachment
                                        .addresses()
                                        .filter(own -> own.isV6() == range.isV6())
                                        .filter(_ -> hasPrivate(guest, range.isV6()))
                                        .map(
                                                "route add %s via %s dev eth0 proto 77\n"
                                                                .formatted(range, "%s")
                                                        ::formatted))
                .distinct()
                .toList();
    }

    private static boolean hasPrivate(Lab.Guest guest, boolean isV6) {
        return Place.privateAddresses(guest.nic()).anyMatch(address -> address.isV6() == isV6);
    }
}
