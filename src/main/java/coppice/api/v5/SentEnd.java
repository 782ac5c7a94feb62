package coppice.api.v5;

import coppice.base.Cidr;
import coppice.json.JsonObject;
import coppice.network.Matcher;
import coppice.network.Protocol;
import java.util.List;
import java.util.Optional;

/// One end of a rule as it was sent. Its shape is right; what it names may be absent.
record SentEnd(
        JsonObject json,
        Optional<Cidr> cidr,
        boolean isPublic,
        Optional<Integer> port,
        Optional<Protocol> protocol) {
    private static final List<String> THINGS = List.of("vmId", "vpcId", "tunnelId");

    static SentEnd read(JsonObject json) {
        json.refuseFieldsExcept("vmId", "vpcId", "tunnelId", "cidr", "public", "port", "protocol");
        for (var field : THINGS) {
            json.string(field)
                    .filter(String::isEmpty)
                    .ifPresent(
                            _ -> {
                                throw json.fault(field, "must not be empty");
                            });
        }
        var protocol = ConnectionFields.protocol(json);
        var port = ConnectionFields.port(json);
        if (port.isPresent() && !protocol.map(Protocol::hasPorts).orElse(false)) {
            throw json.fault("port", "needs protocol tcp or udp");
        }
        return new SentEnd(
                json,
                json.string("cidr").map(text -> Cidr.parse(json.path("cidr"), text)),
                isPublic(json),
                port,
                protocol);
    }

    private static boolean isPublic(JsonObject json) {
        var value = json.bool("public");
        if (value.isPresent() && !value.get()) {
            throw json.fault("public", "must be true, or left out");
        }
        if (value.isPresent() && THINGS.stream().anyMatch(json::has)) {
            throw json.fault(
                    "public", "cannot be together with vmId, vpcId or tunnelId; write two rules");
        }
        return value.isPresent();
    }

    /// Whether it says nothing about who it is.
    boolean isBare() {
        return THINGS.stream().noneMatch(json::has) && cidr.isEmpty() && !isPublic;
    }

    /// With ids in place of names; `NOT_FOUND` for what is absent.
    Matcher named(Names names) {
        return new Matcher(
                json.string("vmId").map(name -> names.vm(json.path("vmId"), name)),
                json.string("vpcId").map(name -> names.vpc(json.path("vpcId"), name).id()),
                json.string("tunnelId").map(name -> names.tunnel(json.path("tunnelId"), name).id()),
                cidr,
                isPublic,
                port,
                protocol);
    }
}
