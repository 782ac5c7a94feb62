package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A tunnel's place in a private network.
///
/// @param cidr the network's, which never changes
/// @param cidrV6 the network's
/// @param remote ranges behind the client that the network routes to it. They may overlap each other, but none of another tunnel here
/// @param isExit whether the client forwards for any destination
public record Attachment(
        VpcId vpc,
        Cidr cidr,
        Cidr cidrV6,
        Optional<IpAddress> ipv4,
        Optional<IpAddress> ipv6,
        List<Cidr> remote,
        boolean isExit,
        Instant createdAt) {
    public Attachment {
        remote = List.copyOf(remote);
    }

    public Stream<IpAddress> addresses() {
        return Stream.of(ipv4, ipv6).flatMap(Optional::stream);
    }

    /// The ranges of the network.
    public Stream<Cidr> ranges() {
        return Stream.of(cidr, cidrV6);
    }

    /// The same with these addresses.
    Attachment at(Optional<IpAddress> ipv4, Optional<IpAddress> ipv6) {
        return new Attachment(vpc, cidr, cidrV6, ipv4, ipv6, remote, isExit, createdAt);
    }
}
