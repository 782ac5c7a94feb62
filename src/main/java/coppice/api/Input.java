package coppice.api;

import coppice.json.Schema;

/// What an operation takes as its request body.
public sealed interface Input {

    /// Nothing: a body is not looked at.
    record None() implements Input {}

    /// A JSON object; an empty body equals `{}`.
    record Json(Schema.ObjectOf schema) implements Input {}

    /// Bytes of any type, which the handler reads by [Call#bytes].
    record Bytes() implements Input {}
}
