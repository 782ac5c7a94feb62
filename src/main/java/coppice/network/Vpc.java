package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.Optional;

/// A private network of one account. Its ranges never change.
public record Vpc(
        VpcId id,
        AccountId account,
        Cidr cidr,
        Cidr cidrV6,
        Optional<Slug> slug,
        Optional<String> displayName,
        Instant createdAt) {

    /// Its range of the family of an address.
    public Cidr range(boolean isV6) {
        return isV6 ? cidrV6 : cidr;
    }

    /// Refuses an address that was wanted in `field` if no member or tunnel can have it.
    void requireCanHold(String field, IpAddress address) {
        if (!canHold(address)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s: %s is no address for a member of the network, whose range is %s"
                            .formatted(field, address, range(address.isV6())));
        }
    }

    /// Whether a member or a tunnel can have this address: it is in the network and not reserved.
    public boolean canHold(IpAddress address) {
        var range = range(address.isV6());
        return range.contains(address)
                && !address.equals(range.first())
                && (address.isV6()
                        ? !address.equals(range.first().plus(1))
                        : !address.equals(range.last()));
    }
}
