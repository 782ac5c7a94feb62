package coppice.main;

import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What an operation answered.
///
/// @param bytes the body; nothing of one that does not end
record EveryOperationAnswer(
        PublishedOperation operation, int status, HttpHeaders headers, byte[] bytes) {

    /// Its content type without parameters; empty when it has none.
    String type() {
        return headers.firstValue("Content-Type").orElse("").replaceAll(";.*", "");
    }

    JsonNode json() {
        return JsonMapper.shared().readTree(bytes);
    }

    /// The text in this field.
    String text(String field) {
        return json().path(field).asString("");
    }

    @Override
    public String toString() {
        return "%s answered %d, %s: %s"
                .formatted(
                        operation.id(), status, type(), new String(bytes, StandardCharsets.UTF_8));
    }
}
