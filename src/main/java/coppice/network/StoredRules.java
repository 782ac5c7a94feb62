package coppice.network;

import coppice.json.Json;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Rules as rows of VMs had them before there were networks: an array of rule objects, in which an end that says nothing means the VM.
public final class StoredRules {
    private StoredRules() {}

    public static List<NewRule> read(String array) {
        return Json.parse("{\"rules\":%s}".formatted(array).getBytes(StandardCharsets.UTF_8))
                .requiredObjects("rules")
                .stream()
                .map(StoredRules::rule)
                .toList();
    }

    private static NewRule rule(JsonObject json) {
        return new NewRule(
                MatcherJson.read(json.requiredObject("source")),
                MatcherJson.read(json.requiredObject("destination")),
                json.string("description"));
    }
}
