package coppice.api.legacy;

import coppice.api.BodyFields;
import coppice.json.JsonObject;
import coppice.vm.Persistence;
import coppice.vm.Vm;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/// What legacy request bodies say about VMs and snapshots: defaults, and which values are allowed.
final class LegacyFields {
    private static final int USUAL_READY_SECONDS = 120;
    private static final int MAX_READY_SECONDS = 3600;
    private static final int MAX_PATH = 4096;

    /// Port 3000 of the VM under https.
    private static final List<Vm.Legacy.Port> USUAL_PORTS = List.of(new Vm.Legacy.Port(443, 3000));

    private LegacyFields() {}

    static List<Vm.Legacy.Port> ports(JsonObject body) {
        var wanted = body.objects("ports").map(list -> list.stream().map(LegacyFields::port));
        var ports = wanted.map(stream -> stream.toList()).orElse(USUAL_PORTS);
        var published = new HashSet<Integer>();
        for (var port : ports) {
            if (!published.add(port.port())) {
                throw body.fault("ports", "publishes %d twice".formatted(port.port()));
            }
        }
        return ports;
    }

    private static Vm.Legacy.Port port(JsonObject item) {
        var port = item.requiredInteger("port");
        if (Vm.Legacy.Port.PUBLISHED.stream().noneMatch(known -> known == port)) {
            throw item.fault("port", "must be 443 or 8081");
        }
        int target =
                BodyFields.whole(item, "targetPort", 1, Vm.Legacy.Port.MAX_TARGET)
                        .orElseThrow(() -> item.missing("targetPort"));
        return new Vm.Legacy.Port((int) port, target);
    }

    static Optional<String> workdir(JsonObject body) {
        var workdir = body.string("workdir");
        workdir.filter(
                        text ->
                                !text.startsWith("/")
                                        || text.length() > MAX_PATH
                                        || text.chars().anyMatch(Character::isISOControl))
                .ifPresent(
                        _ -> {
                            throw body.fault("workdir", "must be an absolute path");
                        });
        return workdir;
    }

    /// How long to wait for readiness. A VM here is ready when it answers, whatever signal is waited for.
    static Duration readiness(JsonObject body) {
        return Duration.ofSeconds(
                BodyFields.whole(body, "readySignalTimeoutSeconds", 1, MAX_READY_SECONDS)
                        .orElse(USUAL_READY_SECONDS));
    }

    /// Traffic of no more bytes than this in ten seconds is no activity.
    static Optional<Long> activityThreshold(JsonObject body) {
        var bytes = body.integer("activityThresholdBytes");
        if (bytes.filter(number -> number < 0).isPresent()) {
            throw body.fault("activityThresholdBytes", "must be 0 or more");
        }
        return bytes;
    }

    /// Of a VM.
    static Persistence persistence(JsonObject body) {
        var wanted = body.object("persistence");
        if (wanted.isEmpty()) {
            return Persistence.USUAL;
        }
        var object = wanted.get();
        return switch (object.requiredString("type")) {
            case "sticky" -> sticky(object);
            case "persistent" -> new Persistence.Persistent();
            case "ephemeral" -> new Persistence.Ephemeral(event(object));
            default -> throw object.fault("type", "must be sticky, ephemeral or persistent");
        };
    }

    private static Persistence.Event event(JsonObject object) {
        return switch (object.string("deleteEvent").orElse("OnSuspend")) {
            case "OnStop" -> Persistence.Event.STOP;
            case "OnSuspend" -> Persistence.Event.REST;
            default -> throw object.fault("deleteEvent", "must be OnStop or OnSuspend");
        };
    }

    /// Of a snapshot: an object as for a VM, or only the word.
    static Persistence.Lasting lasting(JsonObject body) {
        if (!body.has("persistence")) {
            return new Persistence.Persistent();
        }
        boolean isWord = body.value("persistence").filter(String.class::isInstance).isPresent();
        var object = isWord ? body : body.requiredObject("persistence");
        var field = isWord ? "persistence" : "type";
        return switch (object.requiredString(field)) {
            case "sticky" -> isWord ? Persistence.USUAL : sticky(object);
            case "persistent" -> new Persistence.Persistent();
            default -> throw object.fault(field, "must be sticky or persistent");
        };
    }

    private static Persistence.Sticky sticky(JsonObject object) {
        return new Persistence.Sticky(
                BodyFields.whole(object, "priority", 0, Persistence.Sticky.MAX_PRIORITY)
                        .orElse(Persistence.USUAL.priority()));
    }
}
