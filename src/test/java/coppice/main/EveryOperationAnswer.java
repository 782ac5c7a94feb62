package coppice.main;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What an operation answered.
///
/// @param bytes the body; nothing of one that does not end
record EveryOperationAnswer(
        PublishedOperation operation, int status, HttpHeaders headers, byte[] bytes) {
    private static final byte[] NOTHING = new byte[0];

    /// What this client is answered.
    static EveryOperationAnswer of(
            Client client,
            PublishedOperation operation,
            String target,
            byte[] body,
            Map<String, String> headers) {
        var method = operation.method();
        try {
            var response = client.stream(method, target, BodyPublishers.ofByteArray(body), headers);
            try (var stream = response.body()) {
                var head =
                        new EveryOperationAnswer(
                                operation, response.statusCode(), response.headers(), NOTHING);
                boolean ends = !head.type().equals("text/plain"); // lines, as long as one listens
                return ends
                        ? new EveryOperationAnswer(
                                operation, head.status(), head.headers(), stream.readAllBytes())
                        : head;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(method + " " + target, e);
        }
    }

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
