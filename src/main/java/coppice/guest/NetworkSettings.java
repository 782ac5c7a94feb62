package coppice.guest;

import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/// All that the first network interface of a guest is to have; what of the platform's is not in here, the guest takes away. Texts are as
/// `docs/agent-protocol.md` has them: addresses with the length of their network's prefix, gateways (one of each family at most) and
/// resolvers without. The guest refuses those that are malformed.
public record NetworkSettings(
        String deviceAddress,
        int mtu,
        List<String> addresses,
        List<String> gateways,
        List<Route> routes,
        List<String> resolvers) {
    private static final Pattern DEVICE_ADDRESS = Pattern.compile("[0-9a-f]{2}(:[0-9a-f]{2}){5}");
    private static final int MIN_MTU = 68;
    private static final int MAX_MTU = 65535;

    /// Routes with equal `cidr` and `metric` are one route with several next hops. Metric 0 is the kernel's own default.
    public record Route(String cidr, String via, long metric) {
        private static final long MAX_METRIC = 0xFFFF_FFFFL;

        public Route {
            if (metric < 0 || metric > MAX_METRIC) {
                throw new IllegalArgumentException("no route has the metric " + metric);
            }
        }

        @Override
        public String toString() {
            return cidr + " " + via + " " + metric;
        }
    }

    public NetworkSettings {
        if (!DEVICE_ADDRESS.matcher(deviceAddress).matches()) {
            throw new IllegalArgumentException("no device address: " + deviceAddress);
        }
        if (mtu < MIN_MTU || mtu > MAX_MTU) {
            throw new IllegalArgumentException("no interface has the MTU " + mtu);
        }
        addresses = List.copyOf(addresses);
        gateways = List.copyOf(gateways);
        routes = List.copyOf(routes);
        resolvers = List.copyOf(resolvers);
    }

    FieldsWriter fields() {
        var fields =
                Request.fields("network")
                        .bytes(
                                Tag.DEVICE_ADDRESS,
                                HexFormat.ofDelimiter(":").parseHex(deviceAddress))
                        .number(Tag.MTU, mtu);
        addresses.forEach(address -> fields.text(Tag.ADDRESS, address));
        gateways.forEach(gateway -> fields.text(Tag.GATEWAY, gateway));
        routes.forEach(route -> fields.text(Tag.ROUTE, route.toString()));
        resolvers.forEach(resolver -> fields.text(Tag.RESOLVER, resolver));
        return fields;
    }
}
