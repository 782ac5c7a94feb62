package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;

/// A place that a new VM is to have in a private network.
///
/// @param field of the request, for messages
public record NewMembership(
        String field, VpcId vpc, Wanted ipv4, Wanted ipv6, List<StaticRoute> routes) {
    public NewMembership {
        routes = List.copyOf(routes);
    }

    /// Refuses addresses and next hops that are not in the network, whether they are held or free.
    public void requireIn(Vpc vpc) {
        requireAddress(vpc, "ipv4", ipv4);
        requireAddress(vpc, "ipv6", ipv6);
        for (int i = 0; i < routes.size(); i++) {
            var via = routes.get(i).via();
            var range = vpc.range(via.isV6());
            if (!range.contains(via)) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "%s.routes[%d].via: %s is not in the network, whose range is %s"
                                .formatted(field, i, via, range));
            }
        }
    }

    private void requireAddress(Vpc vpc, String name, Wanted wanted) {
        if (wanted instanceof Wanted.Exactly(var address)) {
            vpc.requireCanHold(field + "." + name, address);
        }
    }
}
