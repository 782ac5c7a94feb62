package coppice.network;

import coppice.base.Cidr;
import coppice.base.Slug;
import java.util.List;
import java.util.Optional;

/// What a new private network is to be. `BAD_REQUEST` for a range that no private network may have.
///
/// @param cidr absent: one that the account does not use
/// @param cidrV6 absent: a random one
/// @param rules a bare end means the network
public record NewVpc(
        Optional<Cidr> cidr,
        Optional<Cidr> cidrV6,
        Optional<Slug> slug,
        Optional<String> displayName,
        List<NewRule> rules) {
    public NewVpc {
        cidr.ifPresent(VpcRanges::requireV4);
        cidrV6.ifPresent(VpcRanges::requireV6);
        rules = List.copyOf(rules);
    }

    /// The same with these rules.
    public NewVpc with(List<NewRule> others) {
        return new NewVpc(cidr, cidrV6, slug, displayName, others);
    }
}
