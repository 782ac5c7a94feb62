package coppice.main;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.dns.ResolverSettings;
import coppice.fabric.FabricSettings;
import coppice.network.HostRanges;
import coppice.network.NetworkLimits;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// The keys of the configuration that are about networks.
final class NetworkKeys {
    private static final int SLOTS_PREFIX = 16;

    private NetworkKeys() {}

    static void putDefaults(Map<String, String> keys) {
        keys.put("network.slots", "100.96.0.0/16");
        keys.put("network.ipv6", "");
        keys.put("network.ipv4", "");
        keys.put("network.mtu", "1500");
        keys.put("network.connections", "8192");
        keys.put("network.resolvers", "");
        keys.put("network.maxRules", "1000");
        keys.put("network.maxVpcs", "100");
        keys.put("network.maxTunnels", "100");
        keys.put("tunnel.host", "");
        keys.put("tunnel.ports", "51820-52843");
    }

    static NetworkLimits limits(Settings settings) {
        return new NetworkLimits(
                count(settings, "network.maxRules"),
                count(settings, "network.maxVpcs"),
                count(settings, "network.maxTunnels"),
                ipv6(settings));
    }

    /// @param instance names the data directory
    static FabricSettings fabric(Settings settings, String instance) {
        return new FabricSettings(
                instance,
                settings.parse(
                        "network.slots",
                        NetworkKeys::slots,
                        "a range such as 100.96.0.0/16 inside 100.96.0.0/11, with a prefix of at most 16"),
                ipv6(settings),
                settings.parse(
                        "network.mtu",
                        text -> (int) Forms.whole(text, 1280, 9000),
                        "a number of bytes, 1280 to 9000"),
                settings.parse(
                        "network.connections",
                        text -> (int) Forms.whole(text, 64, 65536),
                        "a number of connections, 64 to 65536"),
                Optional.empty());
    }

    /// The address with which VMs appear in the IPv4 Internet, where it is known.
    static Optional<IpAddress> egress(Settings settings) {
        return settings.optional(
                "network.ipv4",
                text -> IpAddress.parse(text).filter(a -> !a.isV6()).orElseThrow(),
                "an IPv4 address");
    }

    /// How names are looked up that guests ask for.
    static ResolverSettings resolver(Settings settings) {
        var servers =
                settings.parse(
                        "network.resolvers",
                        NetworkKeys::servers,
                        "IP addresses of name servers, separated by commas");
        var usual = ResolverSettings.USUAL;
        var forwarding = usual.forwarding();
        return new ResolverSettings(
                new ResolverSettings.Forwarding(
                        servers,
                        forwarding.resolvConf(),
                        forwarding.attempt(),
                        forwarding.deadline(),
                        forwarding.stripsPrivateAddresses()),
                usual.cache(),
                usual.perClient(),
                usual.inAll(),
                usual.idleTime());
    }

    private static List<InetSocketAddress> servers(String text) {
        return Stream.of(text.split(" *, *"))
                .filter(server -> !server.isEmpty())
                .map(server -> IpAddress.parse(server).orElseThrow())
                .map(server -> new InetSocketAddress(InetAddress.ofLiteral(server.toString()), 53))
                .toList();
    }

    private static Optional<Cidr> ipv6(Settings settings) {
        return settings.optional(
                "network.ipv6",
                text -> prefix(cidr(text), true, 32, 108),
                "an IPv6 range with a prefix of 32 to 108");
    }

    private static int count(Settings settings, String key) {
        return settings.parse(key, text -> Forms.count(text, 0), "a number");
    }

    private static Cidr slots(String text) {
        var cidr = prefix(cidr(text), false, 0, SLOTS_PREFIX);
        if (!HostRanges.SLOTS.contains(cidr)) {
            throw new IllegalArgumentException(text);
        }
        return cidr;
    }

    private static Cidr cidr(String text) {
        try {
            return Cidr.parse("", text);
        } catch (coppice.base.Failure e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static Cidr prefix(Cidr cidr, boolean isV6, int least, int most) {
        if (cidr.isV6() != isV6 || cidr.prefix() < least || cidr.prefix() > most) {
            throw new IllegalArgumentException(cidr.toString());
        }
        return cidr;
    }
}
