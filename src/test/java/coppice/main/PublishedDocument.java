package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.networknt.schema.Error;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// An OpenAPI document, to which its server can be held.
///
/// Requests and successful answers may have no other fields than it describes. Failures may: a few tell details.
final class PublishedDocument {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final int FAILURE = 400;

    private final SchemaRegistry registry =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private final JsonNode parameters;
    private final JsonNode shapes;
    private final JsonNode closedShapes;
    private final List<PublishedOperation> operations = new ArrayList<>();

    private PublishedDocument(JsonNode root) {
        parameters = root.at("/components/parameters");
        shapes = root.at("/components/schemas");
        closedShapes = closed(shapes);
        for (var path : root.get("paths").properties()) {
            for (var operation : path.getValue().properties()) {
                operations.add(
                        new PublishedOperation(
                                operation.getKey().toUpperCase(Locale.ROOT),
                                path.getKey(),
                                operation.getValue()));
            }
        }
    }

    static PublishedDocument parse(String text) {
        // A schema that is taken out of the document finds its named shapes where a schema has
        // them.
        return new PublishedDocument(
                JSON.readTree(text.replace("#/components/schemas/", "#/$defs/")));
    }

    /// A schema or a parameter as it is described, where it may be told by its name only.
    JsonNode described(JsonNode told) {
        var reference = told.path("$ref").asString("");
        if (reference.isEmpty()) {
            return told;
        }
        var name = reference.substring(reference.lastIndexOf('/') + 1);
        return (reference.startsWith("#/$defs/") ? shapes : parameters).required(name);
    }

    List<PublishedOperation> operations() {
        return operations;
    }

    PublishedOperation operation(String id) {
        return operations.stream().filter(it -> it.id().equals(id)).findFirst().orElseThrow();
    }

    /// The one that answers there; where several could, the one that says more of the path.
    PublishedOperation operation(String method, String path) {
        return operations.stream()
                .filter(operation -> operation.isServedAt(method, path))
                .min(Comparator.comparing(PublishedOperation::parameters))
                .orElseThrow(
                        () -> new AssertionError(method + " " + path + " is not in the document"));
    }

    /// Fails when the answer is not as described.
    void requireTrue(EveryOperationAnswer answer) {
        var said = answer.operation().answer(answer.status());
        assertTrue(said.isObject(), () -> "a status that is not documented: " + answer);
        if (!said.has("content")) {
            assertEquals(0, answer.bytes().length, () -> "a body: " + answer);
            return;
        }
        var content = said.get("content");
        if (content.has("*/*")) {
            return;
        }
        var type = answer.type();
        assertTrue(content.has(type), () -> "a type that is not documented: " + answer);
        if (!type.equals("application/json")) {
            return;
        }
        requireShape(content.get(type).get("schema"), answer);
        if (answer.status() >= FAILURE) {
            assertTrue(
                    answer.operation().codes(answer.status()).contains(answer.text("code")),
                    () -> "a code that is not documented: " + answer);
        }
    }

    private void requireShape(JsonNode schema, EveryOperationAnswer answer) {
        var faults =
                answer.status() >= FAILURE
                        ? faults(schema, shapes, answer.json())
                        : faults(closed(schema), closedShapes, answer.json());
        assertEquals(List.of(), faults, answer::toString);
    }

    /// Fails when this body is not as described, though the server took it.
    void requireTaken(PublishedOperation operation, byte[] body) {
        if (operation.takesJson() && body.length > 0) {
            var faults = faults(closed(operation.taken()), closedShapes, JSON.readTree(body));
            assertEquals(List.of(), faults, () -> operation.id() + " took " + new String(body));
        }
    }

    private List<Error> faults(JsonNode schema, JsonNode named, JsonNode value) {
        var whole = JSON.createObjectNode();
        schema.properties().forEach(keyword -> whole.set(keyword.getKey(), keyword.getValue()));
        whole.set("$defs", named);
        return registry.getSchema(whole)
                .validate(
                        value,
                        context ->
                                context.executionConfig(
                                        config -> config.formatAssertionsEnabled(true)));
    }

    /// The same, where objects with known fields have no others.
    private static JsonNode closed(JsonNode schema) {
        return switch (schema) {
            case ObjectNode object -> {
                var closed = JSON.createObjectNode();
                object.properties()
                        .forEach(member -> closed.set(member.getKey(), closed(member.getValue())));
                if (object.has("properties") && !object.has("additionalProperties")) {
                    closed.put("additionalProperties", false);
                }
                yield closed;
            }
            case ArrayNode array -> {
                var closed = JSON.createArrayNode();
                array.forEach(element -> closed.add(closed(element)));
                yield closed;
            }
            default -> schema;
        };
    }
}
