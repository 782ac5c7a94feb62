package coppice.api;

import coppice.json.Schema;
import java.util.Optional;

/// What an operation takes as its request body.
public sealed interface Input {

    /// Nothing: a body is not looked at.
    record None() implements Input {}

    /// A JSON object; an empty body equals `{}`.
    ///
    /// @param example one that is documented, as JSON
    record Json(Schema.ObjectOf schema, Optional<String> example) implements Input {
        public Json(Schema.ObjectOf schema) {
            this(schema, Optional.empty());
        }
    }

    /// What a browser sends of a form, which the handler reads by [Call#bytes].
    record Form(Schema.ObjectOf schema) implements Input {}

    /// Bytes of any type, which the handler reads by [Call#bytes].
    record Bytes() implements Input {}
}
