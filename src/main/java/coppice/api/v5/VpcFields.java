package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.base.Cidr;
import coppice.base.Slug;
import coppice.json.JsonObject;
import coppice.network.NewVpc;
import coppice.network.Vpc;
import coppice.network.VpcId;
import java.util.List;
import java.util.Optional;

/// Private networks in request bodies.
final class VpcFields {

    private VpcFields() {}

    /// What is to be made, still without its rules.
    static NewVpc wanted(JsonObject body) {
        return new NewVpc(
                cidr(body, "cidr"),
                cidr(body, "cidrV6"),
                slug(body, Optional.empty()),
                BodyFields.label(body, "displayName", Optional.empty()),
                List.of());
    }

    private static Optional<Cidr> cidr(JsonObject body, String field) {
        return body.string(field).map(text -> Cidr.parse(body.path(field), text));
    }

    /// The network after an update: what is not sent stays.
    static Vpc updated(JsonObject body, Vpc before) {
        return before.with(
                slug(body, before.slug()),
                BodyFields.label(body, "displayName", before.displayName()));
    }

    private static Optional<Slug> slug(JsonObject body, Optional<Slug> before) {
        return SlugField.read(body, before, VpcId::isId, "look like the id of a network");
    }
}
