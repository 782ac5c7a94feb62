package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.List;
import java.util.stream.Stream;

/// Which addresses are publicly routable: those that the IANA special-purpose address registries (RFC 6890 and its updates) call globally
/// reachable or do not list, unicast only, and the range of this host's VMs.
public final class PublicAddresses {
    /// Everything that is not.
    public static final List<Cidr> NOT_V4 =
            ranges(
                    "0.0.0.0/8",
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "127.0.0.0/8",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.0.0.0/24",
                    "192.0.2.0/24",
                    "192.88.99.0/24",
                    "192.168.0.0/16",
                    "198.18.0.0/15",
                    "198.51.100.0/24",
                    "203.0.113.0/24",
                    "224.0.0.0/3");

    /// Global unicast is 2000::/3; within it, these are not.
    public static final Cidr GLOBAL_V6 = Cidr.stored("2000::/3");

    public static final List<Cidr> NOT_V6 =
            ranges("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");

    /// Parts of the former that are.
    public static final List<Cidr> STILL_V6 =
            ranges(
                    "2001:1::1/128",
                    "2001:1::2/128",
                    "2001:1::3/128",
                    "2001:3::/32",
                    "2001:4:112::/48",
                    "2001:20::/28",
                    "2001:30::/28");

    private PublicAddresses() {}

    private static List<Cidr> ranges(String... texts) {
        return Stream.of(texts).map(Cidr::stored).toList();
    }

    public static boolean contains(IpAddress address) {
        if (!address.isV6()) {
            return NOT_V4.stream().noneMatch(range -> range.contains(address));
        }
        return GLOBAL_V6.contains(address)
                && (NOT_V6.stream().noneMatch(range -> range.contains(address))
                        || STILL_V6.stream().anyMatch(range -> range.contains(address)));
    }
}
