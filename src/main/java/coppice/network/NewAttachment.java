package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;

/// A place that a tunnel is to have in a private network. `BAD_REQUEST` for too many ranges.
///
/// @param place in front of the names of fields, for messages: empty, or with a dot at its end
/// @param vpc the network's id or slug
/// @param remote ranges behind the client that the network is to route to it
public record NewAttachment(
        String place, String vpc, Wanted ipv4, Wanted ipv6, List<Cidr> remote, boolean isExit) {
    private static final int MOST_REMOTE = 16;

    public NewAttachment {
        if (ipv4 instanceof Wanted.None && ipv6 instanceof Wanted.None) {
            throw new IllegalArgumentException("a place without an address");
        }
        if (remote.size() > MOST_REMOTE) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%sremoteCidrs: must be at most %d ranges".formatted(place, MOST_REMOTE));
        }
        remote = List.copyOf(remote);
    }

    /// Refuses what is wrong whatever else is in the network.
    ///
    /// @param routes of the tunnel
    void requirePossible(List<Cidr> routes, Vpc network) {
        for (var range : List.of(network.cidr(), network.cidrV6())) {
            if (routes.stream().noneMatch(route -> route.contains(range))) {
                throw bad(
                        "vpcId",
                        "%s has the range %s, which is in none of the tunnel's routes; make a tunnel with a route for it"
                                .formatted(network.id(), range));
            }
        }
        requireAddress("ipv4", ipv4, network);
        requireAddress("ipv6", ipv6, network);
        for (int i = 0; i < remote.size(); i++) {
            var range = remote.get(i);
            var own = network.range(range.isV6());
            if (range.overlaps(own) && !own.contains(range)) {
                throw bad(
                        "remoteCidrs[%d]".formatted(i),
                        "%s is partly in the network, whose range is %s; take one inside of it or outside"
                                .formatted(range, own));
            }
        }
    }

    private void requireAddress(String field, Wanted wanted, Vpc network) {
        if (wanted instanceof Wanted.Exactly(var address)) {
            network.requireCanHold(place + field, address);
        }
    }

    private Failure bad(String field, String problem) {
        return new Failure(Code.BAD_REQUEST, "%s%s: %s".formatted(place, field, problem));
    }
}
