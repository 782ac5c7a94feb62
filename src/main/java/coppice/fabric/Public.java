package coppice.fabric;

import coppice.base.Cidr;
import coppice.network.PublicAddresses;
import java.util.Optional;

/// The publicly routable addresses as ranges, the host's own for its VMs among them.
record Public(Ranges v4, Ranges v6) {
    static Public of(Optional<Cidr> own) {
        var v6 =
                Ranges.of(PublicAddresses.GLOBAL_V6)
                        .minus(Ranges.of(PublicAddresses.NOT_V6))
                        .plus(Ranges.of(PublicAddresses.STILL_V6));
        return new Public(
                Ranges.ALL_V4.minus(Ranges.of(PublicAddresses.NOT_V4)),
                own.map(Ranges::of).map(v6::plus).orElse(v6));
    }

    Ranges of(boolean isV6) {
        return isV6 ? v6 : v4;
    }
}
