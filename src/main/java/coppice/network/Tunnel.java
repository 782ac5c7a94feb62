package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// A WireGuard identity that reaches the private networks it is attached to.
///
/// @param number no other tunnel of this host has it; its addresses and its port are made of it
/// @param routes what the client sends into the tunnel; never changes
/// @param attachments oldest first
public record Tunnel(
        TunnelId id,
        AccountId account,
        int number,
        Optional<Slug> slug,
        Optional<String> displayName,
        PublicKey clientKey,
        List<Cidr> routes,
        List<Attachment> attachments,
        Instant createdAt,
        Instant updatedAt) {
    private static final Comparator<Attachment> BY_AGE =
            Comparator.comparing(Attachment::createdAt).thenComparing(a -> a.vpc().text());

    public Tunnel {
        routes = List.copyOf(routes);
        attachments = attachments.stream().sorted(BY_AGE).toList();
    }

    public Optional<Attachment> attachment(VpcId vpc) {
        return attachments.stream().filter(a -> a.vpc().equals(vpc)).findFirst();
    }

    /// The client's address inside of the tunnel.
    public IpAddress clientV4() {
        return HostRanges.TUNNELS.first().plus(number + 1);
    }

    public IpAddress clientV6() {
        return HostRanges.TUNNELS_V6.first().plus(number + 1);
    }

    /// The same under another slug and name.
    public Tunnel with(Optional<Slug> slug, Optional<String> displayName) {
        return changed(slug, displayName, clientKey, attachments, updatedAt);
    }

    Tunnel with(PublicKey key) {
        return changed(slug, displayName, key, attachments, updatedAt);
    }

    Tunnel with(Attachment attachment) {
        var more = new ArrayList<>(attachments);
        more.add(attachment);
        return changed(slug, displayName, clientKey, more, updatedAt);
    }

    /// The same, attached to one network less.
    Tunnel without(VpcId vpc) {
        var left = attachments.stream().filter(a -> !a.vpc().equals(vpc)).toList();
        return changed(slug, displayName, clientKey, left, updatedAt);
    }

    Tunnel updated(Instant at) {
        return changed(slug, displayName, clientKey, attachments, at);
    }

    private Tunnel changed(
            Optional<Slug> slug,
            Optional<String> displayName,
            PublicKey key,
            List<Attachment> attachments,
            Instant updatedAt) {
        return new Tunnel(
                id,
                account,
                number,
                slug,
                displayName,
                key,
                routes,
                attachments,
                createdAt,
                updatedAt);
    }
}
