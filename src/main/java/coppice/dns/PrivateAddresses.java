package coppice.dns;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.List;
import java.util.stream.Stream;

/// Addresses that mean something only inside: to ask others for their names says what is here, and a name from outside that has one
/// leads a program to a machine that the name's owner cannot reach.
final class PrivateAddresses {
    /// This host and loopback, private networks, the addresses that this host gives to its VMs, link-local ones.
    private static final List<Cidr> RANGES =
            Stream.of(
                            "0.0.0.0/8",
                            "10.0.0.0/8",
                            "100.64.0.0/10",
                            "127.0.0.0/8",
                            "169.254.0.0/16",
                            "172.16.0.0/12",
                            "192.168.0.0/16",
                            "::/128",
                            "::1/128",
                            "fc00::/7",
                            "fe80::/10")
                    .map(Cidr::stored)
                    .toList();

    /// What has an IPv4 address in its last 32 bits and leads there: mapped, compatible, NAT64.
    private static final List<Cidr> WITH_V4 =
            Stream.of("::ffff:0:0/96", "::/96", "64:ff9b::/96").map(Cidr::stored).toList();

    private static final long V4_MASK = 0xffffffffL;

    private PrivateAddresses() {}

    static boolean contain(IpAddress address) {
        return contain(Cidr.of(address))
                || WITH_V4.stream().anyMatch(range -> range.contains(address))
                        && contain(Cidr.of(IpAddress.v4(address.low() & V4_MASK)));
    }

    static boolean contain(Cidr range) {
        return RANGES.stream().anyMatch(all -> all.contains(range));
    }
}
