package coppice.json;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Writes a [Schema] as JSON Schema.
final class SchemaText {
    private SchemaText() {}

    static Map<String, Object> describe(Schema schema, Map<String, Object> components) {
        return switch (schema) {
            case Schema.Text text -> typed("string", text.keywords());
            case Schema.Whole whole -> {
                var keywords = new LinkedHashMap<String, Object>();
                keywords.put("format", "int64");
                keywords.putAll(whole.keywords());
                yield typed("integer", keywords);
            }
            case Schema.Decimal _ -> typed("number", Map.of());
            case Schema.Truth _ -> typed("boolean", Map.of());
            case Schema.ListOf list ->
                    typed("array", Map.of("items", describe(list.items(), components)));
            case Schema.MapOf map ->
                    typed(
                            "object",
                            Map.of("additionalProperties", describe(map.values(), components)));
            case Schema.AnyOf any ->
                    Map.of(
                            "anyOf",
                            any.choices().stream().map(c -> describe(c, components)).toList());
            case Schema.OrNull orNull -> orNull(describe(orNull.value(), components));
            case Schema.Anything _ -> Map.of();
            case Schema.ObjectOf object ->
                    object.name()
                            .map(name -> reference(name, object, components))
                            .orElseGet(() -> object(object, components));
        };
    }

    private static Map<String, Object> reference(
            String name, Schema.ObjectOf object, Map<String, Object> components) {
        if (!components.containsKey(name)) {
            components.put(name, Map.of()); // ends the recursion when a shape contains itself
            components.put(name, object(object, components));
        }
        return Map.of("$ref", "#/components/schemas/" + name);
    }

    private static Map<String, Object> object(
            Schema.ObjectOf object, Map<String, Object> components) {
        var properties = new LinkedHashMap<String, Object>();
        for (var field : object.fields()) {
            var property = new LinkedHashMap<>(describe(field.type(), components));
            property.put("description", field.description());
            properties.put(field.name(), property);
        }
        var keywords = new LinkedHashMap<String, Object>();
        keywords.put("properties", properties);
        var required =
                object.fields().stream()
                        .filter(field -> field.presence() == Presence.ALWAYS)
                        .map(Schema.Field::name)
                        .toList();
        if (!required.isEmpty()) {
            keywords.put("required", required);
        }
        return typed("object", keywords);
    }

    private static Map<String, Object> orNull(Map<String, Object> schema) {
        if (schema.get("type") instanceof String type && !schema.containsKey("enum")) {
            var either = new LinkedHashMap<>(schema);
            either.put("type", List.of(type, "null"));
            return either;
        }
        return Map.of("anyOf", List.of(schema, Map.of("type", "null")));
    }

    private static Map<String, Object> typed(String type, Map<String, Object> keywords) {
        var schema = new LinkedHashMap<String, Object>();
        schema.put("type", type);
        schema.putAll(keywords);
        return schema;
    }
}
