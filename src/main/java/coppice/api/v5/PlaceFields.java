package coppice.api.v5;

import coppice.json.JsonObject;
import coppice.network.NewMembership;
import java.util.List;
import java.util.Optional;

/// The private network that a new VM is to be in, in request bodies.
final class PlaceFields {
    private static final String VPCS = "vpcs";

    /// The old name.
    private static final String NETWORKS = "networks";

    private PlaceFields() {}

    /// `NOT_FOUND` for a network that is absent.
    static Optional<NewMembership> of(JsonObject body, Names names) {
        return of(body).map(place -> place.named(names));
    }

    /// As [#of(JsonObject, Names)], before anything is looked up.
    static Optional<SentPlace> of(JsonObject body) {
        if (body.has(VPCS) && body.has(NETWORKS)) {
            throw body.fault(NETWORKS, "is the old name of vpcs; send only one of them");
        }
        var field = body.has(NETWORKS) ? NETWORKS : VPCS;
        var sent = body.objects(field).orElse(List.of());
        if (sent.size() > 1) {
            throw body.fault(field, "a VM can be in one network only; send one entry");
        }
        return sent.stream()
                .findFirst()
                .map(entry -> SentPlace.read("%s[0]".formatted(body.path(field)), entry));
    }
}
