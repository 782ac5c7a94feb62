package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A tunnel's place in a private network.
///
/// @param remote ranges behind the client that the network routes to it
/// @param isExit whether the client forwards for any destination
public record Attachment(
        VpcId vpc,
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
}
