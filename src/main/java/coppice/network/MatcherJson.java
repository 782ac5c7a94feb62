package coppice.network;

import coppice.base.Cidr;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// Ends of rules as the store keeps them: with the contract's field names, absent ones left out.
final class MatcherJson {
    private MatcherJson() {}

    static String write(Matcher end) {
        var json =
                new JsonWriter()
                        .put("vmId", end.vm().map(MemberId::text))
                        .put("vpcId", end.vpc().map(VpcId::text))
                        .put("tunnelId", end.tunnel().map(TunnelId::text))
                        .put("cidr", end.cidr().map(Cidr::toString))
                        .put("public", end.isPublic() ? Optional.of(true) : Optional.empty())
                        .put("port", end.port())
                        .put("protocol", end.protocol().map(Protocol::word));
        return new String(Json.writeValue(json), StandardCharsets.UTF_8);
    }

    static Matcher read(String text) {
        return read(Json.parse(text.getBytes(StandardCharsets.UTF_8)));
    }

    static Matcher read(JsonObject json) {
        return new Matcher(
                json.string("vmId").map(MemberId::new),
                json.string("vpcId").map(VpcId::new),
                json.string("tunnelId").map(TunnelId::new),
                json.string("cidr").map(Cidr::stored),
                json.bool("public").orElse(false),
                json.integer("port").map(Math::toIntExact),
                json.string("protocol").flatMap(Protocol::of));
    }
}
