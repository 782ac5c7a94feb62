package coppice.network;

import java.util.List;

/// A place that a new VM is to have in a private network.
///
/// @param field of the request, for messages
public record NewMembership(
        String field, VpcId vpc, Wanted ipv4, Wanted ipv6, List<StaticRoute> routes) {
    public NewMembership {
        routes = List.copyOf(routes);
    }
}
