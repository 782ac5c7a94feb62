package coppice.fabric;

import coppice.base.IpAddress;
import java.util.List;
import java.util.stream.Stream;

/// Who is at a port of a bridge.
///
/// @param port its interface
/// @param addresses without the link-local one
record Station(String port, String mac, List<IpAddress> addresses, IpAddress linkLocal) {
    /// The addresses of a family by which it is reached.
    Stream<IpAddress> reached(boolean isV6) {
        return Stream.concat(addresses.stream(), Stream.of(linkLocal))
                .filter(address -> address.isV6() == isV6);
    }
}
