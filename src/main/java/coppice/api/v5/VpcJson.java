package coppice.api.v5;

import coppice.base.Slug;
import coppice.json.JsonWriter;
import coppice.network.Vpc;

/// Private networks as they are answered.
final class VpcJson {

    private VpcJson() {}

    static JsonWriter write(Vpc vpc) {
        return new JsonWriter()
                .put("id", vpc.id().text())
                .put("cidr", vpc.cidr().toString())
                .put("cidrV6", vpc.cidrV6().toString())
                .put("slug", vpc.slug().map(Slug::text))
                .put("displayName", vpc.displayName())
                .put("createdAt", vpc.createdAt());
    }
}
