package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Which addresses of a private network are held, and which are free. Ranges that are routed to tunnels are neither.
final class Addresses {
    private final Vpc vpc;
    private final Set<IpAddress> held;
    private final List<Cidr> granted;

    Addresses(AccountNetworks networks, Vpc vpc) {
        this.vpc = vpc;
        this.granted =
                networks.tunnelsOf(vpc.id())
                        .flatMap(tunnel -> tunnel.attachment(vpc.id()).stream())
                        .flatMap(attachment -> attachment.remote().stream())
                        .toList();
        this.held = new HashSet<>();
        Stream.concat(
                        networks.members(vpc.id())
                                .flatMap(nic -> nic.membership().stream())
                                .flatMap(Membership::addresses),
                        networks.tunnelsOf(vpc.id())
                                .flatMap(tunnel -> tunnel.attachment(vpc.id()).stream())
                                .flatMap(Attachment::addresses))
                .forEach(held::add);
    }

    /// The address that is wanted, or the lowest free one.
    ///
    /// @param field of the request, for messages
    Optional<IpAddress> pick(String field, boolean isV6, Wanted wanted) {
        return switch (wanted) {
            case Wanted.None _ -> Optional.empty();
            case Wanted.Any _ -> Optional.of(lowest(field, isV6));
            case Wanted.Exactly(var address) -> {
                requireFree(field, address);
                yield Optional.of(address);
            }
        };
    }

    private void requireFree(String field, IpAddress address) {
        vpc.requireCanHold(field, address);
        if (held.contains(address) || isGranted(address)) {
            throw new Failure(
                    Code.CONFLICT,
                    "%s: %s is held already; choose another one, or none"
                            .formatted(field, address));
        }
    }

    /// Whether anything in a range of the network is held or routed to a tunnel.
    boolean isFree(Cidr range) {
        return held.stream().noneMatch(range::contains)
                && granted.stream().noneMatch(range::overlaps);
    }

    private boolean isGranted(IpAddress address) {
        return granted.stream().anyMatch(range -> range.contains(address));
    }

    private IpAddress lowest(String field, boolean isV6) {
        var range = vpc.range(isV6);
        var address = range.first().plus(isV6 ? 2 : 1);
        while (range.contains(address)) {
            var here = address;
            var grant = granted.stream().filter(other -> other.contains(here)).findFirst();
            if (grant.isPresent()) {
                address = grant.get().last().plus(1);
            } else if (!held.contains(address) && vpc.canHold(address)) {
                return address;
            } else {
                address = address.plus(1);
            }
        }
        throw new Failure(
                Code.CONFLICT, "%s: the network %s has no free address".formatted(field, range));
    }

    static Set<Cidr> rangesOf(AccountNetworks networks) {
        return networks.vpcs().values().stream()
                .flatMap(vpc -> Stream.of(vpc.cidr(), vpc.cidrV6()))
                .collect(Collectors.toSet());
    }
}
