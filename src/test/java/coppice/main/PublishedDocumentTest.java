package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// That an answer which is not as described is noticed.
class PublishedDocumentTest {
    private static final PublishedDocument DOCUMENT =
            PublishedDocument.parse(
                    """
                    {"paths": {
                       "/v5/things/{thing}": {"get": {"operationId": "getThing", "security": [{"bearer": []}], "responses": {
                         "200": {"description": "OK", "content": {"application/json": {"schema": {
                           "$ref": "#/components/schemas/Thing"}}}},
                         "204": {"description": "Done."},
                         "404": {"description": "`NOT_FOUND`: absent\\n\\n`THING_GONE`: deleted", "content": {
                           "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}}}},
                       "/v5/things/all": {"get": {"operationId": "all", "security": [], "responses": {}}}},
                     "components": {"schemas": {
                       "Error": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
                       "Part": {"type": "object", "properties": {"size": {"type": ["integer", "null"]}}},
                       "Thing": {"type": "object", "required": ["id"], "properties": {
                         "id": {"type": "string"}, "made": {"type": "string", "format": "date-time"},
                         "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}}}}}}
                    """);

    private static void require(int status, String type, String body) {
        var headers = HttpHeaders.of(Map.of("Content-Type", List.of(type)), (_, _) -> true);
        var operation = DOCUMENT.operation("GET", "/v5/things/one");
        DOCUMENT.requireTrue(
                new EveryOperationAnswer(operation, status, headers, body.getBytes(UTF_8)));
    }

    private static void requireNoticed(int status, String type, String body, String what) {
        var noticed = assertThrows(AssertionError.class, () -> require(status, type, body));
        assertTrue(noticed.getMessage().contains(what), noticed.getMessage());
    }

    @Test
    void whatIsAsDescribedPasses() {
        require(200, "application/json", "{\"id\":\"a\",\"parts\":[{\"size\":null},{\"size\":1}]}");
        require(200, "application/json", "{\"id\":\"a\",\"made\":\"2026-01-01T00:00:00.000Z\"}");
        require(204, "", "");
        require(404, "application/json", "{\"code\":\"THING_GONE\",\"detail\":1}");
    }

    @Test
    void aShapeThatIsNotDescribedIsNoticed() {
        var json = "application/json";
        requireNoticed(200, json, "{}", "id");
        requireNoticed(200, json, "{\"id\":null}", "id");
        requireNoticed(200, json, "{\"id\":\"a\",\"more\":1}", "more");
        requireNoticed(200, json, "{\"id\":\"a\",\"parts\":[{\"more\":1}]}", "more");
        requireNoticed(200, json, "{\"id\":\"a\",\"parts\":[{\"size\":\"1\"}]}", "size");
        requireNoticed(200, json, "{\"id\":\"a\",\"made\":\"yesterday\"}", "made");
    }

    @Test
    void aStatusTypeBodyOrCodeThatIsNotDescribedIsNoticed() {
        requireNoticed(202, "application/json", "{\"id\":\"a\"}", "202");
        requireNoticed(200, "text/plain", "{\"id\":\"a\"}", "text/plain");
        requireNoticed(204, "application/json", "{}", "a body");
        requireNoticed(404, "application/json", "{\"code\":\"ABSENT\"}", "ABSENT");
    }

    @Test
    void theOperationThatSaysMoreOfThePathAnswers() {
        assertEquals("all", DOCUMENT.operation("GET", "/v5/things/all").id());
        assertEquals("getThing", DOCUMENT.operation("GET", "/v5/things/a%2Fb").id());
        assertThrows(AssertionError.class, () -> DOCUMENT.operation("POST", "/v5/things/all"));
    }
}
