package coppice.network;

import coppice.base.Cidr;
import coppice.base.Secret;
import java.util.Optional;
import java.util.stream.Collectors;

/// The configuration of a tunnel's client: a whole file for WireGuard.
public final class ClientConfig {
    private static final int KEEPALIVE_SECONDS = 25;

    private ClientConfig() {}

    /// @param privateKey absent: the client fills in its own
    public static String text(Tunnel tunnel, Endpoint endpoint, Optional<Secret> privateKey) {
        return """
               [Interface]
               PrivateKey = %s
               Address = %s, %s

               [Peer]
               PublicKey = %s
               AllowedIPs = %s
               %sPersistentKeepalive = %d
               """
                .formatted(
                        privateKey.map(Secret::reveal).orElse(""),
                        Cidr.of(tunnel.clientV4()),
                        Cidr.of(tunnel.clientV6()),
                        endpoint.key(),
                        tunnel.routes().stream()
                                .map(Cidr::toString)
                                .collect(Collectors.joining(", ")),
                        endpoint.host().map(host -> line(host, endpoint.port())).orElse(""),
                        KEEPALIVE_SECONDS);
    }

    private static String line(String host, int port) {
        return "Endpoint = %s:%d\n".formatted(host.contains(":") ? "[" + host + "]" : host, port);
    }
}
