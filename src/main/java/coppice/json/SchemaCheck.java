package coppice.json;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;

/// Compares the types of a parsed value with a [Schema].
final class SchemaCheck {
    private SchemaCheck() {}

    static void check(Schema schema, String at, Object value) {
        if (value == null) {
            return;
        }
        switch (schema) {
            case Schema.ObjectOf object -> object(object, at, value);
            case Schema.ListOf list -> {
                if (!(value instanceof List<?> items)) {
                    throw JsonObject.mistypedAt(at, wanted(schema), value);
                }
                for (int i = 0; i < items.size(); i++) {
                    item(list.items(), "%s[%d]".formatted(at, i), items.get(i));
                }
            }
            case Schema.MapOf map -> {
                if (!(value instanceof Map<?, ?> members)) {
                    throw JsonObject.mistypedAt(at, wanted(schema), value);
                }
                members.forEach((name, member) -> item(map.values(), join(at, name), member));
            }
            case Schema.OrNull orNull -> check(orNull.value(), at, value);
            case Schema.Whole _ -> whole(at, value);
            case Schema.Text _,
                    Schema.Decimal _,
                    Schema.Truth _,
                    Schema.AnyOf _,
                    Schema.Anything _ -> {
                if (!fits(schema, value)) {
                    throw JsonObject.mistypedAt(at, wanted(schema), value);
                }
            }
        }
    }

    /// Members of lists and maps cannot be absent, so `null` passes only where it is allowed by name.
    private static void item(Schema schema, String at, Object value) {
        if (value == null
                && !(schema instanceof Schema.OrNull || schema instanceof Schema.Anything)) {
            throw JsonObject.mistypedAt(at, wanted(schema), value);
        }
        check(schema, at, value);
    }

    private static void object(Schema.ObjectOf object, String at, Object value) {
        if (!(value instanceof Map<?, ?> members)) {
            throw JsonObject.mistypedAt(at, wanted(object), value);
        }
        for (var field : object.fields()) {
            check(field.type(), join(at, field.name()), members.get(field.name()));
        }
    }

    private static void whole(String at, Object value) {
        // The reader knows why a number is no 64-bit integer, and says so.
        if (!(value instanceof Long)) {
            JsonObject.integerAt(at, value);
        }
    }

    /// Only the outermost type: what is inside one of several choices is for the operation to read.
    private static boolean fits(Schema schema, Object value) {
        return switch (schema) {
            case Schema.Text _ -> value instanceof String;
            case Schema.Whole _ -> value instanceof Long;
            case Schema.Decimal _ -> value instanceof Long || value instanceof BigDecimal;
            case Schema.Truth _ -> value instanceof Boolean;
            case Schema.ListOf _ -> value instanceof List<?>;
            case Schema.MapOf _, Schema.ObjectOf _ -> value instanceof Map<?, ?>;
            case Schema.AnyOf any -> any.choices().stream().anyMatch(choice -> fits(choice, value));
            case Schema.OrNull orNull -> fits(orNull.value(), value);
            case Schema.Anything _ -> true;
        };
    }

    private static String wanted(Schema schema) {
        return switch (schema) {
            case Schema.Text _ -> "a string";
            case Schema.Whole _ -> JsonObject.INTEGER;
            case Schema.Decimal _ -> "a number";
            case Schema.Truth _ -> "true or false";
            case Schema.ListOf _ -> "an array";
            case Schema.MapOf _, Schema.ObjectOf _ -> "an object";
            case Schema.AnyOf any ->
                    String.join(" or ", any.choices().stream().map(SchemaCheck::wanted).toList());
            case Schema.OrNull orNull -> wanted(orNull.value());
            case Schema.Anything _ -> "anything";
        };
    }

    private static String join(String at, Object name) {
        return at.isEmpty() ? (String) name : at + "." + name;
    }
}
