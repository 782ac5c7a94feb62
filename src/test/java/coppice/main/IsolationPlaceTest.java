package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/// That no place where something can be named is left out in silence.
class IsolationPlaceTest {
    private static final String DOCUMENT =
            """
            {"paths": {"/v5/vpcs/{vpc}/PATH": {"post": {"operationId": "doThing", "parameters": [
               {"name": "vpc", "in": "path", "schema": {"type": "string"}},
               {"name": "QUERY", "in": "query", "schema": {"type": "string"}},
               {"$ref": "#/components/parameters/once"}],
               "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}}},
             "components": {
               "parameters": {"once": {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}},
               "schemas": {
                 "Thing": {"type": "object", "properties": {
                   "count": {"type": "integer"},
                   "parts": {"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"$ref": "#/components/schemas/Part"}]}}}},
                 "Part": {"type": "object", "properties": {"FIELD": {"type": ["string", "null"]}}}}}}
            """;

    private static List<String> places(String path, String query, String field) {
        var text = DOCUMENT.replace("PATH", path).replace("QUERY", query).replace("FIELD", field);
        return IsolationPlace.all(PublishedDocument.parse(text)).stream()
                .map(place -> "%s %s: %s".formatted(place.in(), place.at(), place.kind()))
                .toList();
    }

    @Test
    void everyPlaceOfANameIsFound() {
        assertEquals(
                List.of(
                        "PATH vpc: VPC",
                        "QUERY vmId: VM",
                        "HEADER Idempotency-Key: ONCE",
                        "BODY parts.[].tunnelId: TUNNEL"),
                places("tunnels", "vmId", "tunnelId"));
        assertEquals(
                List.of("PATH vpc: VPC", "HEADER Idempotency-Key: ONCE"),
                places("tunnels", "limit", "description"));
        assertEquals(
                List.of(
                        "PATH vpc: VPC",
                        "QUERY slug: TUNNEL_SLUG",
                        "HEADER Idempotency-Key: ONCE",
                        "BODY parts.[].slug: TUNNEL_SLUG"),
                places("tunnels", "slug", "slug"));
    }

    @Test
    void aNameThatIsNotKnownFails() {
        requireFailure("tunnels", "ownerId", "name", "ownerId");
        requireFailure("tunnels", "limit", "volumeId", "parts.[].volumeId");
        requireFailure("volumes", "slug", "name", "a slug");
    }

    private static void requireFailure(String path, String query, String field, String what) {
        var failure = assertThrows(AssertionError.class, () -> places(path, query, field));
        assertTrue(failure.getMessage().contains("doThing takes " + what), failure.getMessage());
    }
}
