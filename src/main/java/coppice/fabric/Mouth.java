package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.Attachment;
import coppice.network.StaticRoute;
import coppice.network.Tunnel;
import java.util.stream.Stream;

/// The port of a tunnel in the segment of a network that it is attached to.
record Mouth(Tunnel tunnel, Attachment attachment) {
    private static final int VISIBLE = 13;

    /// The segment's end.
    String name() {
        return "tn" + Integer.toHexString(tunnel.number());
    }

    /// The tunnel's end: ids are random, so their beginnings are too.
    String inner() {
        return "a" + attachment.vpc().text().substring("vpc-".length(), "vpc-".length() + VISIBLE);
    }

    /// Of the tunnel's end; no VM has such a one.
    String mac() {
        return "02:c1:00:00:%02x:%02x".formatted(tunnel.number() >>> 8, tunnel.number() & 0xff);
    }

    /// The link-local address that Linux makes of that (RFC 4291, appendix A).
    IpAddress linkLocal() {
        return IpAddress.v6(0xfe80L << 48, 0x00c1_00ff_fe00_0000L | tunnel.number());
    }

    /// To the IPv6 ranges inside of the network that are behind the client.
    Stream<StaticRoute> routesInside() {
        return attachment.remote().stream()
                .filter(attachment.cidrV6()::contains)
                .map(range -> new StaticRoute(range, linkLocal(), 0));
    }

    /// What packets that come from the tunnel are marked with; not 0.
    static int mark(Tunnel tunnel) {
        return tunnel.number() + 1;
    }

    Station station() {
        return new Station(name(), mac(), attachment.addresses().toList(), linkLocal());
    }
}
