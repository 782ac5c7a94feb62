package coppice.api.v5;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Secret;
import coppice.base.Slug;
import coppice.json.JsonWriter;
import coppice.network.Attachment;
import coppice.network.ClientConfig;
import coppice.network.Endpoint;
import coppice.network.Tunnel;
import coppice.network.Tunnels;
import java.util.List;
import java.util.Optional;

/// Tunnel objects as they are answered.
final class TunnelJson {
    private TunnelJson() {}

    static JsonWriter write(Tunnel tunnel, Endpoint endpoint) {
        return write(tunnel, endpoint, Optional.empty());
    }

    /// With the client's private key, which is answered this once.
    static JsonWriter write(Tunnels.Issued issued, Endpoint endpoint) {
        return write(issued.tunnel(), endpoint, issued.privateKey())
                .put("clientPrivateKey", issued.privateKey().map(Secret::reveal).orElse(""));
    }

    private static JsonWriter write(Tunnel tunnel, Endpoint endpoint, Optional<Secret> privateKey) {
        return new JsonWriter()
                .put("id", tunnel.id().text())
                .put("tunnelId", tunnel.id().text())
                .put("slug", tunnel.slug().map(Slug::text))
                .put("displayName", tunnel.displayName())
                .put("clientConfig", ClientConfig.text(tunnel, endpoint, privateKey))
                .put("endpointHost", endpoint.host())
                .put("endpointPort", endpoint.port())
                .put("clientPublicKey", tunnel.clientKey().text())
                .put("serverPublicKey", endpoint.key().text())
                .put("clientAddressV4", tunnel.clientV4().toString())
                .put("clientAddressV6", tunnel.clientV6().toString())
                .put("routes", texts(tunnel.routes()))
                .put(
                        "attachments",
                        tunnel.attachments().stream().map(TunnelJson::attachment).toList())
                .put("createdAt", tunnel.createdAt())
                .put("updatedAt", tunnel.updatedAt());
    }

    private static JsonWriter attachment(Attachment place) {
        var addresses = place.addresses().map(IpAddress::toString).toList();
        return new JsonWriter()
                .put("vpcId", place.vpc().text())
                .put("ipv4", place.ipv4().map(IpAddress::toString))
                .put("ipv6", place.ipv6().map(IpAddress::toString))
                .put("address", addresses.getFirst())
                .put("secondaryAddress", addresses.stream().skip(1).findFirst())
                .put("vpcCidr", place.cidr().toString())
                .put("allowedIps", texts(place.ranges().toList()))
                .put("remoteCidrs", Optional.of(texts(place.remote())).filter(r -> !r.isEmpty()))
                .put("exit", place.isExit() ? Optional.of(true) : Optional.empty())
                .put("createdAt", place.createdAt());
    }

    private static List<String> texts(List<Cidr> ranges) {
        return ranges.stream().map(Cidr::toString).toList();
    }
}
