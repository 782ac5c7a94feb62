package coppice.json;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The shape of a JSON value: checks the types in a request body, and documents requests and responses as JSON Schema 2020-12,
/// the dialect of OpenAPI 3.1.
///
/// ```java
/// static final Schema VM = Schema.object("VM")
///         .field("id", Schema.string(), ALWAYS, "Stable for the VM's life.")
///         .field("slug", Schema.string(), OPTIONAL, "The account's own name for it.");
/// ```
///
/// [#check] looks at types only. Which fields must be there, and which values are allowed, is for the operation to say: those
/// rules come after the look-up of the thing that the path names. `null` passes as a field, because it equals absent. Of a
/// value with several possible types only the outermost is looked at.
public sealed interface Schema {

    /// A string; `keywords` are further JSON Schema keywords, such as `format`.
    record Text(Map<String, Object> keywords) implements Schema {
        public Text {
            keywords = ordered(keywords);
        }
    }

    record Whole(Map<String, Object> keywords) implements Schema {
        public Whole {
            keywords = ordered(keywords);
        }
    }

    record Decimal() implements Schema {}

    record Truth() implements Schema {}

    record ListOf(Schema items) implements Schema {}

    record MapOf(Schema values) implements Schema {}

    /// Any of these types.
    record AnyOf(List<Schema> choices) implements Schema {
        public AnyOf {
            choices = List.copyOf(choices);
        }
    }

    /// The same, and documented as possibly `null`.
    record OrNull(Schema value) implements Schema {}

    record Anything() implements Schema {}

    /// An object. With a name it is described once, among the document's components.
    record ObjectOf(Optional<String> name, List<Field> fields) implements Schema {
        public ObjectOf {
            fields = List.copyOf(fields);
        }

        public ObjectOf field(String field, Schema type, Presence presence, String description) {
            var more = new ArrayList<>(fields);
            more.add(new Field(field, type, presence, description));
            return new ObjectOf(name, more);
        }

        /// All fields of `other` in addition to these.
        public ObjectOf with(ObjectOf other) {
            var more = new ArrayList<>(fields);
            more.addAll(other.fields);
            return new ObjectOf(name, more);
        }
    }

    record Field(String name, Schema type, Presence presence, String description) {}

    static Text string() {
        return new Text(Map.of());
    }

    /// One of these words.
    static Text word(String... words) {
        return new Text(Map.of("enum", List.of(words)));
    }

    static Text pattern(String regex) {
        return new Text(Map.of("pattern", regex));
    }

    /// A moment: RFC 3339 in UTC, with milliseconds.
    static Text time() {
        return new Text(Map.of("format", "date-time"));
    }

    static Text base64() {
        return new Text(Map.of("contentEncoding", "base64"));
    }

    static Whole integer() {
        return new Whole(Map.of());
    }

    static Whole integer(long min, long max) {
        var range = new LinkedHashMap<String, Object>();
        range.put("minimum", min);
        range.put("maximum", max);
        return new Whole(range);
    }

    static Schema number() {
        return new Decimal();
    }

    static Schema bool() {
        return new Truth();
    }

    static Schema list(Schema items) {
        return new ListOf(items);
    }

    static Schema map(Schema values) {
        return new MapOf(values);
    }

    static Schema anyOf(Schema... choices) {
        return new AnyOf(List.of(choices));
    }

    static Schema anything() {
        return new Anything();
    }

    static ObjectOf object(String name) {
        return new ObjectOf(Optional.of(name), List.of());
    }

    /// An object without a name of its own, described where it stands.
    static ObjectOf object() {
        return new ObjectOf(Optional.empty(), List.of());
    }

    default Schema orNull() {
        return new OrNull(this);
    }

    /// Refuses the first field that is of another type, with the field's path in front of the message.
    default void check(JsonObject body) {
        SchemaCheck.check(this, "", body.members());
    }

    /// This shape as JSON Schema. Named objects become references to `#/components/schemas/`, and are added to `components`.
    default Map<String, Object> describe(Map<String, Object> components) {
        return SchemaText.describe(this, components);
    }

    private static Map<String, Object> ordered(Map<String, Object> keywords) {
        return Collections.unmodifiableMap(new LinkedHashMap<>(keywords));
    }
}
