package coppice.network;

import coppice.base.Cidr;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// A WireGuard identity that reaches the private networks it is attached to.
///
/// @param number no other tunnel of this host has it; its addresses and its port are made of it
/// @param clientKey the client's public key, base64
/// @param routes what the client sends into the tunnel; never changes
/// @param attachments oldest first
public record Tunnel(
        TunnelId id,
        AccountId account,
        int number,
        Optional<Slug> slug,
        Optional<String> displayName,
        String clientKey,
        List<Cidr> routes,
        List<Attachment> attachments,
        Instant createdAt,
        Instant updatedAt) {
    public Tunnel {
        routes = List.copyOf(routes);
        attachments = List.copyOf(attachments);
    }

    public Optional<Attachment> attachment(VpcId vpc) {
        return attachments.stream().filter(a -> a.vpc().equals(vpc)).findFirst();
    }

    /// The same, attached to one network less.
    Tunnel without(VpcId vpc) {
        return new Tunnel(
                id,
                account,
                number,
                slug,
                displayName,
                clientKey,
                routes,
                attachments.stream().filter(a -> !a.vpc().equals(vpc)).toList(),
                createdAt,
                updatedAt);
    }
}
