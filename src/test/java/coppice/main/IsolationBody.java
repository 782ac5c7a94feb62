package coppice.main;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Bodies with what an operation cannot do without, and one field that a test is about.
///
/// @param vm the id of a VM, where one is needed
record IsolationBody(PublishedDocument document, PublishedOperation operation, String vm) {
    private static final JsonMapper JSON = JsonMapper.shared();

    /// What is sent in fields that must be there.
    private static final Map<String, String> NEEDED =
            Map.ofEntries(
                    Map.entry("action", "\"allow\""),
                    Map.entry("firewall", "{\"rules\":[]}"),
                    Map.entry("rules", "[]"),
                    Map.entry("topology", "\"node\""),
                    Map.entry("selector", "{}"),
                    Map.entry("matchLabels", "{}"),
                    Map.entry("command", "\"true\""),
                    Map.entry("exec", "[\"true\"]"),
                    Map.entry("mode", "\"service\""),
                    Map.entry("name", "\"some\""),
                    Map.entry("services", "[{\"id\":\"some\"}]"),
                    Map.entry("id", "\"some\""),
                    Map.entry("template", "{}"),
                    Map.entry("allowedUsers", "[\"app\"]"),
                    Map.entry("allowedLinuxUsers", "[\"app\"]"),
                    Map.entry("content", "\"some\""),
                    Map.entry("path", "\"/tmp/some\""),
                    Map.entry("size", "3"),
                    Map.entry("tokenId", "\"00000000-0000-4000-8000-000000000000\""),
                    Map.entry("polling_code", "\"some\""),
                    Map.entry("domain", "\"some.example.test\""));

    /// The other end of a rule, or of what is evaluated, where it must say something of itself.
    private static final Map<String, String> OTHER_ENDS =
            Map.of(
                    "createFirewallRule", "{\"public\":true}",
                    "evaluateFirewall", "{\"address\":\"192.0.2.1\"}");

    /// With nothing but what is needed.
    JsonNode plain() {
        return with(document.described(operation.taken()), List.of(), JSON.nullNode());
    }

    /// @param at the path of the field that gets the value
    JsonNode with(String at, JsonNode value) {
        return with(operation.taken(), List.of(at.split("\\.")), value);
    }

    private JsonNode with(JsonNode told, List<String> at, JsonNode value) {
        var schema = document.described(told);
        if (at.isEmpty() && !schema.has("properties")) {
            return value;
        }
        if (schema.has("anyOf") || schema.has("oneOf")) {
            var choices = schema.has("anyOf") ? schema.get("anyOf") : schema.get("oneOf");
            return with(fitting(choices, at), at, value);
        }
        if (!at.isEmpty() && at.getFirst().equals("[]")) {
            return JSON.createArrayNode().add(with(schema.get("items"), rest(at), value));
        }
        var object = JSON.createObjectNode();
        schema.path("required")
                .forEach(field -> object.set(field.asString(), needed(field.asString())));
        if (!at.isEmpty()) {
            var field = at.getFirst();
            object.set(field, with(schema.get("properties").get(field), rest(at), value));
        }
        return object;
    }

    private JsonNode fitting(JsonNode choices, List<String> at) {
        var all = new ArrayList<JsonNode>();
        choices.forEach(choice -> all.add(document.described(choice)));
        return all.stream()
                .filter(
                        choice ->
                                at.isEmpty()
                                        || choice.path("properties").has(at.getFirst())
                                        || at.getFirst().equals("[]") && choice.has("items"))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> rest(List<String> at) {
        return at.subList(1, at.size());
    }

    private JsonNode needed(String field) {
        if (field.equals("vmId")) {
            return JSON.createObjectNode().stringNode(vm);
        }
        if (field.equals("source") || field.equals("destination")) {
            return JSON.readTree(
                    OTHER_ENDS.getOrDefault(operation.id().replace("Unversioned", ""), "{}"));
        }
        var value = NEEDED.get(field);
        assertNotNull(
                value,
                () ->
                        "%s needs %s, of which IsolationBody does not know what to send"
                                .formatted(operation.id(), field));
        return JSON.readTree(value);
    }
}
