package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.json.JsonObject;
import coppice.network.Protocol;
import java.util.Optional;

/// What rules and descriptions of connections say in the same words.
final class ConnectionFields {
    private static final int MAX_PORT = 65_535;

    private ConnectionFields() {}

    static Optional<Integer> port(JsonObject json) {
        return BodyFields.whole(json, "port", 1, MAX_PORT);
    }

    static Optional<Protocol> protocol(JsonObject json) {
        return json.string("protocol")
                .map(
                        word ->
                                Protocol.of(word)
                                        .orElseThrow(
                                                () ->
                                                        json.fault(
                                                                "protocol",
                                                                "must be tcp, udp or icmp")));
    }
}
