package coppice.api.v5;

import coppice.api.BodyFields;
import coppice.json.JsonObject;
import coppice.vm.Placement;
import coppice.vm.Timers;
import coppice.vm.Vm;
import coppice.vm.VmId;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/// The settings of a VM in request bodies: how absent, null, empty and -1 are read, and what values are allowed.
final class VmFields {
    private static final int MAX_LABELS = 64;
    private static final int MAX_LABEL = 63;
    private static final int MAX_PLACEMENT_RULES = 8;
    private static final int MAX_MATCH_LABELS = 8;

    private VmFields() {}

    /// The settings after a create or an update of `before`: what is not sent stays.
    static Vm.Settings settings(JsonObject body, Vm.Settings before) {
        return new Vm.Settings(
                SlugField.read(
                        body,
                        before.slug(),
                        text -> VmId.isId(text) || text.equals("snapshots"),
                        "look like a VM id or be 'snapshots'"),
                BodyFields.label(body, "displayName", before.displayName()),
                timers(body, before.timers()),
                body.bool("automaticRestart").orElse(before.automaticRestart()),
                metadata(body, before.metadata()),
                before.activityThreshold());
    }

    /// Whether the slug may be taken from another VM. Needs a slug to take.
    static boolean reassigns(JsonObject body) {
        boolean reassigns = body.bool("reassignSlug").orElse(false);
        if (reassigns && body.string("slug").filter(text -> !text.isEmpty()).isEmpty()) {
            throw body.fault("reassignSlug", "needs a slug to take; send slug too");
        }
        return reassigns;
    }

    private static Timers timers(JsonObject body, Timers before) {
        return new Timers(
                BodyFields.seconds(body, "idleTimeoutSeconds", 1, before.idle()),
                BodyFields.seconds(body, "autoDeleteSeconds", 0, before.autoDelete()),
                BodyFields.seconds(body, "ttlSeconds", 1, before.ttl()),
                BodyFields.seconds(body, "maxRunSeconds", 1, before.maxRun()),
                BodyFields.seconds(body, "maxRunTotalSeconds", 1, before.maxRunTotal()));
    }

    /// The labels after changing `before`: an empty value removes its key.
    static Map<String, String> metadata(JsonObject body, Map<String, String> before) {
        var merged = new TreeMap<>(before);
        body.stringMap("metadata")
                .orElse(Map.of())
                .forEach(
                        (key, value) -> {
                            requireLabel(body, "metadata", key, value);
                            if (value.isEmpty()) {
                                merged.remove(key);
                            } else {
                                merged.put(key, value);
                            }
                        });
        if (merged.size() > MAX_LABELS) {
            throw body.fault(
                    "metadata", "has more than %d entries; remove some".formatted(MAX_LABELS));
        }
        return merged;
    }

    private static void requireLabel(JsonObject body, String field, String key, String value) {
        if (key.isEmpty() || key.length() > MAX_LABEL || key.contains(":") || key.contains(",")) {
            throw body.fault(
                    field,
                    "keys must be 1 to %d characters without ':' and ','".formatted(MAX_LABEL));
        }
        if (value.length() > MAX_LABEL) {
            throw body.fault(field, "values must be at most %d characters".formatted(MAX_LABEL));
        }
    }

    static Placement placement(JsonObject body) {
        var rules =
                body.object("placement").flatMap(placement -> placement.objects("antiAffinity"));
        rules.filter(list -> list.size() > MAX_PLACEMENT_RULES)
                .ifPresent(
                        _ -> {
                            throw body.fault(
                                    "placement",
                                    "antiAffinity has at most %d rules"
                                            .formatted(MAX_PLACEMENT_RULES));
                        });
        return rules.map(list -> new Placement(list.stream().map(VmFields::matchLabels).toList()))
                .orElse(Placement.ANYWHERE);
    }

    private static Map<String, String> matchLabels(JsonObject rule) {
        if (!rule.requiredString("topology").equals("node")) {
            throw rule.fault("topology", "must be 'node'");
        }
        var selector = rule.requiredObject("selector");
        var labels =
                selector.stringMap("matchLabels")
                        .orElseThrow(() -> selector.missing("matchLabels"));
        if (labels.isEmpty() || labels.size() > MAX_MATCH_LABELS) {
            throw selector.fault(
                    "matchLabels", "must have 1 to %d entries".formatted(MAX_MATCH_LABELS));
        }
        labels.forEach((key, value) -> requireLabel(selector, "matchLabels", key, value));
        return new HashMap<>(labels);
    }
}
