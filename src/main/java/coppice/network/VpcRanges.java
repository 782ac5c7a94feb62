package coppice.network;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.RandomText;
import coppice.identity.AccountId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// Which ranges private networks may have, and which they get.
final class VpcRanges {
    private static final List<Cidr> PRIVATE =
            Stream.of("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16").map(Cidr::stored).toList();
    private static final Cidr UNIQUE_LOCAL = Cidr.stored("fc00::/7");

    private static final Cidr TUNNELS = HostRanges.TUNNELS_V6;

    private static final int SHORTEST = 16;
    private static final int LONGEST = 28;
    private static final int USUAL = 24;
    private static final int USUAL_NETWORKS = 1 << (USUAL - 8);
    private static final int V6_PREFIX = 64;

    private VpcRanges() {}

    static Vpc choose(AccountId account, NewVpc wanted, AccountNetworks networks, Instant now) {
        var used = Addresses.rangesOf(networks);
        return new Vpc(
                VpcId.random(),
                account,
                wanted.cidr().orElseGet(() -> unusedV4(used)),
                wanted.cidrV6().orElseGet(VpcRanges::randomV6),
                wanted.slug(),
                wanted.displayName(),
                now);
    }

    static void requireV4(Cidr cidr) {
        if (cidr.prefix() < SHORTEST
                || cidr.prefix() > LONGEST
                || PRIVATE.stream().noneMatch(range -> range.contains(cidr))) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "cidr: must be inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, with a prefix of %d to %d"
                            .formatted(SHORTEST, LONGEST));
        }
    }

    static void requireV6(Cidr cidr) {
        if (cidr.prefix() != V6_PREFIX || !UNIQUE_LOCAL.contains(cidr) || TUNNELS.contains(cidr)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "cidrV6: must be inside fc00::/7 and outside fdff::/48, with a prefix of %d"
                            .formatted(V6_PREFIX));
        }
    }

    /// From a random place on, so that networks that are to be joined one day seldom overlap.
    private static Cidr unusedV4(Set<Cidr> used) {
        int start =
                ByteBuffer.wrap(RandomText.bytes(Integer.BYTES)).getInt() & (USUAL_NETWORKS - 1);
        return Stream.iterate(start, i -> (i + 1) % USUAL_NETWORKS)
                .limit(USUAL_NETWORKS)
                .map(i -> new Cidr(IpAddress.v4((10L << 24) + ((long) i << 8)), USUAL))
                .filter(cidr -> used.stream().noneMatch(cidr::overlaps))
                .findFirst()
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.CONFLICT,
                                        "cidr: the account uses all of 10.0.0.0/8; choose a range"));
    }

    /// RFC 4193: `fd`, then random bits.
    private static Cidr randomV6() {
        Cidr cidr;
        do {
            long random = ByteBuffer.wrap(RandomText.bytes(Long.BYTES)).getLong();
            cidr = new Cidr(IpAddress.v6(0xfdL << 56 | random >>> Byte.SIZE, 0), V6_PREFIX);
        } while (TUNNELS.contains(cidr));
        return cidr;
    }
}
