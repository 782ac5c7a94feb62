package coppice.json;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// Puts a JSON object together, member by member, in order.
///
/// Takes strings, booleans, numbers, `Instant` (RFC 3339 in UTC with milliseconds), `UUID`, other writers, maps with string
/// keys, collections, and `Optional` of these. A member whose value is an empty `Optional` is omitted.
public final class JsonWriter {
    private final Map<String, Object> members = new LinkedHashMap<>();

    public JsonWriter put(String name, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is null; use an Optional or putOrNull");
        }
        if (!Plain.isAbsent(value)) {
            members.put(name, Plain.of(value));
        }
        return this;
    }

    /// For the few members that the contract wants as `null` when they have no value.
    public JsonWriter putOrNull(String name, Optional<?> value) {
        members.put(name, Plain.of(value));
        return this;
    }

    /// All members of a map, as by [#put].
    public JsonWriter putAll(Map<String, ?> values) {
        values.forEach(this::put);
        return this;
    }

    /// What was put so far, as a reader sees it.
    public JsonObject toObject() {
        return JsonObject.of(members);
    }

    Map<String, Object> members() {
        return Collections.unmodifiableMap(members);
    }
}
