package coppice.api;

import coppice.json.Schema;

/// What an operation answers when it succeeds.
public sealed interface Output {

    /// 204 without body.
    record NoContent() implements Output {}

    /// 200 with this.
    record Json(Schema schema) implements Output {}

    /// 200 with bytes.
    record Bytes() implements Output {}
}
