package coppice.api.v5;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.json.JsonObject;
import coppice.network.NewMembership;
import coppice.network.StaticRoute;
import coppice.network.Wanted;
import java.util.List;

/// A place in a private network as it was sent. Its shape is right; the network may be absent, and the addresses may not be in it.
///
/// @param field of the body
/// @param vpcField of the body, in which the network is named
record SentPlace(
        String field,
        String vpcField,
        String vpc,
        Wanted ipv4,
        Wanted ipv6,
        List<StaticRoute> routes) {
    private static final int MAX_ROUTES = 32;

    static SentPlace read(String field, JsonObject entry) {
        var vpcField = entry.has("vpcId") ? "vpcId" : "vpc";
        var vpc = entry.string(vpcField).orElseThrow(() -> entry.missing("vpcId"));
        if (!entry.string("vpc").orElse(vpc).equals(vpc)) {
            throw entry.fault("vpc", "is the old name of vpcId; send only one of them");
        }
        var ipv4 = wanted(entry, "ipv4", false);
        var ipv6 = wanted(entry, "ipv6", true);
        if (ipv4 instanceof Wanted.None && ipv6 instanceof Wanted.None) {
            throw entry.fault("ipv6", "ipv4 and ipv6 cannot both be false");
        }
        return new SentPlace(field, entry.path(vpcField), vpc, ipv4, ipv6, routes(entry));
    }

    private static Wanted wanted(JsonObject entry, String field, boolean isV6) {
        return switch (entry.value(field).orElse(true)) {
            case Boolean isWanted -> isWanted ? new Wanted.Any() : new Wanted.None();
            case String text -> new Wanted.Exactly(address(entry, field, text, isV6));
            default -> throw entry.fault(field, "must be an address, true or false");
        };
    }

    private static IpAddress address(JsonObject entry, String field, String text, boolean isV6) {
        return IpAddress.parse(text)
                .filter(address -> address.isV6() == isV6)
                .orElseThrow(
                        () ->
                                entry.fault(
                                        field,
                                        "must be an %s address".formatted(isV6 ? "IPv6" : "IPv4")));
    }

    private static List<StaticRoute> routes(JsonObject entry) {
        var routes = entry.objects("routes").orElse(List.of());
        if (routes.size() > MAX_ROUTES) {
            throw entry.fault("routes", "must be at most %d".formatted(MAX_ROUTES));
        }
        return routes.stream().map(SentPlace::route).toList();
    }

    private static StaticRoute route(JsonObject json) {
        var cidr = Cidr.parse(json.path("cidr"), json.requiredString("cidr"));
        var via = address(json, "via", json.requiredString("via"), cidr.isV6());
        long metric = json.integer("metric").orElse(0L);
        if (metric < 0 || metric > StaticRoute.MAX_METRIC) {
            throw json.fault("metric", "must be 0 to %d".formatted(StaticRoute.MAX_METRIC));
        }
        return new StaticRoute(cidr, via, metric);
    }

    /// `NOT_FOUND` for a network that is absent, `BAD_REQUEST` for addresses and next hops that are not in it.
    NewMembership named(Names names) {
        var found = names.vpc(vpcField, vpc);
        var place = new NewMembership(field, found.id(), ipv4, ipv6, routes);
        place.requireIn(found);
        return place;
    }
}
