package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.json.JsonObject;
import coppice.network.NewAttachment;
import coppice.network.NewTunnel;
import coppice.network.PublicKey;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import coppice.network.Wanted;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// Tunnels and their places in networks in request bodies.
final class TunnelFields {
    private TunnelFields() {}

    static NewTunnel tunnel(JsonObject body) {
        return new NewTunnel(
                slug(body, Optional.empty()),
                BodyFields.label(body, "displayName", Optional.empty()),
                clientKey(body),
                body.has("routes") ? ranges(body, "routes") : NewTunnel.USUAL_ROUTES,
                body.objects("vpcs").orElse(List.of()).stream()
                        .map(place -> attachment(place, vpc(place)))
                        .toList());
    }

    /// The slug and the name after an update of `before`: what is not sent stays.
    static Tunnel named(JsonObject body, Tunnel before) {
        return before.with(
                slug(body, before.slug()),
                BodyFields.label(body, "displayName", before.displayName()));
    }

    static Optional<PublicKey> clientKey(JsonObject body) {
        return body.string("clientPublicKey")
                .map(text -> PublicKey.parse(body.path("clientPublicKey"), text));
    }

    /// @param vpc the network's id or slug
    static NewAttachment attachment(JsonObject body, String vpc) {
        var address = address(body);
        return new NewAttachment(
                body.path(""), // what stands in front of the names of its fields
                vpc,
                wanted(address, false),
                wanted(address, true),
                ranges(body, "remoteCidrs"),
                body.bool("exit").orElse(false));
    }

    private static String vpc(JsonObject place) {
        return place.string("vpcId")
                .or(() -> place.string("vpc"))
                .orElseThrow(() -> place.missing("vpcId"));
    }

    private static Optional<Slug> slug(JsonObject body, Optional<Slug> before) {
        return SlugField.read(body, before, TunnelId::isId, "look like the id of a tunnel");
    }

    /// The one address that is wanted. Either field takes IPv6, only the first one IPv4.
    private static Optional<IpAddress> address(JsonObject body) {
        if (body.has("ipv4") && body.has("ipv6")) {
            throw body.fault("ipv6", "cannot be together with ipv4; send one of the two, or none");
        }
        var ipv6 = address(body, "ipv6");
        if (ipv6.filter(address -> !address.isV6()).isPresent()) {
            throw body.fault("ipv6", "must be an IPv6 address; send this one as ipv4");
        }
        return ipv6.or(() -> address(body, "ipv4"));
    }

    private static Optional<IpAddress> address(JsonObject body, String field) {
        return body.string(field)
                .map(
                        text ->
                                IpAddress.parse(text)
                                        .orElseThrow(
                                                () -> body.fault(field, "must be an IP address")));
    }

    /// Without a wanted address, one of each family is; with one, no other.
    private static Wanted wanted(Optional<IpAddress> address, boolean isV6) {
        if (address.isEmpty()) {
            return new Wanted.Any();
        }
        return address.get().isV6() == isV6 ? new Wanted.Exactly(address.get()) : new Wanted.None();
    }

    private static List<Cidr> ranges(JsonObject body, String field) {
        var texts = body.strings(field).orElse(List.of());
        return IntStream.range(0, texts.size())
                .mapToObj(i -> Cidr.parse("%s[%d]".formatted(body.path(field), i), texts.get(i)))
                .toList();
    }
}
