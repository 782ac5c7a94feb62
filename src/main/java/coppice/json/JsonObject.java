package coppice.json;

import coppice.base.Code;
import coppice.base.Failure;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/// A parsed JSON object that knows where it stands in its document.
///
/// Getters give the field's value, or empty when it is absent or `null`. A value of another type is a [Failure] with
/// [Code#BAD_REQUEST] whose message starts with the field's path, as in `vpcs[0].routes: must be an array, not a string`.
/// Immutable.
public final class JsonObject {
    static final String INTEGER = "an integer, written without quotes, point and exponent";

    private final String place;
    private final Map<String, Object> members;

    private JsonObject(String place, Map<String, Object> members) {
        this.place = place;
        this.members = Collections.unmodifiableMap(members);
    }

    public static JsonObject empty() {
        return new JsonObject("", Map.of());
    }

    /// An object of values as [JsonWriter#put] takes them.
    public static JsonObject of(Map<String, ?> members) {
        var writer = new LinkedHashMap<String, Object>();
        members.forEach((name, value) -> writer.put(name, Plain.of(value)));
        return new JsonObject("", writer);
    }

    /// Whether the field is there with a value other than `null`.
    public boolean has(String field) {
        return members.get(field) != null;
    }

    /// Whether the field is there and `null`: for the few fields where that differs from absent.
    public boolean isNull(String field) {
        return members.containsKey(field) && members.get(field) == null;
    }

    public Set<String> fields() {
        return members.keySet();
    }

    public Optional<String> string(String field) {
        return typed(field, String.class, "a string");
    }

    public Optional<Boolean> bool(String field) {
        return typed(field, Boolean.class, "true or false");
    }

    /// An integer of 64 bits, written without point and exponent.
    public Optional<Long> integer(String field) {
        return present(field).map(value -> integerAt(path(field), value));
    }

    public Optional<BigDecimal> number(String field) {
        return present(field)
                .map(
                        value ->
                                switch (value) {
                                    case Long number -> BigDecimal.valueOf(number);
                                    case BigDecimal number -> number;
                                    default -> throw mistyped(field, "a number", value);
                                });
    }

    public Optional<JsonObject> object(String field) {
        return present(field).map(value -> object(path(field), value));
    }

    public Optional<List<JsonObject>> objects(String field) {
        return items(field, JsonObject::object);
    }

    public Optional<List<String>> strings(String field) {
        return items(field, JsonObject::string);
    }

    public Optional<List<Long>> integers(String field) {
        return items(field, JsonObject::integerAt);
    }

    /// An object whose values are all strings.
    public Optional<Map<String, String>> stringMap(String field) {
        return object(field)
                .map(
                        object -> {
                            var map = new LinkedHashMap<String, String>();
                            object.members.forEach(
                                    (name, value) ->
                                            map.put(name, string(object.path(name), value)));
                            return Collections.unmodifiableMap(map);
                        });
    }

    public String requiredString(String field) {
        return string(field).orElseThrow(() -> missing(field));
    }

    public long requiredInteger(String field) {
        return integer(field).orElseThrow(() -> missing(field));
    }

    public boolean requiredBool(String field) {
        return bool(field).orElseThrow(() -> missing(field));
    }

    public JsonObject requiredObject(String field) {
        return object(field).orElseThrow(() -> missing(field));
    }

    public List<JsonObject> requiredObjects(String field) {
        return objects(field).orElseThrow(() -> missing(field));
    }

    /// The value as plain Java (map, list, `String`, `Long`, `BigDecimal`, `Boolean`): for fields that take more than one type.
    public Optional<Object> value(String field) {
        return present(field);
    }

    /// Where the contract does not ignore unknown fields: refuses the first that is not one of `known`.
    public void refuseFieldsExcept(String... known) {
        var allowed = Arrays.asList(known);
        for (var field : members.keySet()) {
            if (!allowed.contains(field)) {
                throw fault(
                        field,
                        "is not a field here; use only %s".formatted(String.join(", ", allowed)));
            }
        }
    }

    /// The field's place in the whole document, as in `firewall.rules[2].port`.
    public String path(String field) {
        return place.isEmpty() ? field : place + "." + field;
    }

    /// A failure about one field, its path put in front: `fault("cpu", "must be at most 64")`.
    public Failure fault(String field, String problem) {
        return faultAt(path(field), problem);
    }

    public Failure missing(String field) {
        return fault(field, "is required; send it");
    }

    Map<String, Object> members() {
        return members;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JsonObject object && members.equals(object.members);
    }

    @Override
    public int hashCode() {
        return members.hashCode();
    }

    /// Names only: values may be secret.
    @Override
    public String toString() {
        return "JSON object with " + members.keySet();
    }

    static long integerAt(String at, Object value) {
        if (value instanceof Long number) {
            return number;
        }
        if (value instanceof BigDecimal number && isLargeInteger(number)) {
            throw faultAt(at, "is too large; an integer has 64 bits, at most " + Long.MAX_VALUE);
        }
        throw mistypedAt(at, INTEGER, value);
    }

    private static boolean isLargeInteger(BigDecimal number) {
        return number.scale() == 0 && number.precision() >= 19;
    }

    private Optional<Object> present(String field) {
        return Optional.ofNullable(members.get(field));
    }

    private <T> Optional<T> typed(String field, Class<T> type, String words) {
        return present(field)
                .map(
                        value -> {
                            if (!type.isInstance(value)) {
                                throw mistyped(field, words, value);
                            }
                            return type.cast(value);
                        });
    }

    private <T> Optional<List<T>> items(String field, BiFunction<String, Object, T> read) {
        return present(field)
                .map(
                        value -> {
                            if (!(value instanceof List<?> list)) {
                                throw mistyped(field, "an array", value);
                            }
                            var items = new ArrayList<T>(list.size());
                            for (var item : list) {
                                items.add(
                                        read.apply(
                                                "%s[%d]".formatted(path(field), items.size()),
                                                item));
                            }
                            return Collections.unmodifiableList(items);
                        });
    }

    @SuppressWarnings("unchecked") // every map of a parsed document has string keys
    private static JsonObject object(String at, Object value) {
        if (value instanceof Map<?, ?> map) {
            return new JsonObject(at, (Map<String, Object>) map);
        }
        throw mistypedAt(at, "an object", value);
    }

    private static String string(String at, Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw mistypedAt(at, "a string", value);
    }

    private Failure mistyped(String field, String wanted, Object value) {
        return mistypedAt(path(field), wanted, value);
    }

    static Failure mistypedAt(String at, String wanted, Object value) {
        var given =
                switch (value) {
                    case null -> "null";
                    case String _ -> "a string";
                    case Boolean _ -> "a boolean";
                    case List<?> _ -> "an array";
                    case Map<?, ?> _ -> "an object";
                    case Long _ -> "an integer";
                    default -> "a number";
                };
        return faultAt(at, "must be %s, not %s".formatted(wanted, given));
    }

    static Failure faultAt(String at, String problem) {
        return new Failure(Code.BAD_REQUEST, shown(at) + ": " + problem);
    }

    /// A path can hold names chosen by the caller: long ones are cut and control characters do not reach logs.
    private static String shown(String path) {
        var cut = path.length() <= 200 ? path : path.substring(0, 200) + "...";
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
