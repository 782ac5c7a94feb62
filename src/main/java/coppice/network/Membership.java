package coppice.network;

import coppice.base.IpAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A VM's place in a private network, for as long as the VM is there.
public record Membership(
        VpcId vpc, Optional<IpAddress> ipv4, Optional<IpAddress> ipv6, List<StaticRoute> routes) {
    public Membership {
        routes = List.copyOf(routes);
    }

    public Stream<IpAddress> addresses() {
        return Stream.of(ipv4, ipv6).flatMap(Optional::stream);
    }
}
