package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenApiTest {

    @Test
    void theDescriptionIsValid() {
        try (var api = new ApiServer()) {
            var result = new OpenAPIV3Parser().readContents(api.get("/openapi.json").text());
            assertEquals(List.of(), result.getMessages());
            var document = result.getOpenAPI();
            assertEquals("Coppice", document.getInfo().getTitle());
            assertEquals("0.1.0", document.getInfo().getVersion());
            assertEquals("https://api.test", document.getServers().getFirst().getUrl());
            assertEquals(
                    "bearer",
                    document.getComponents().getSecuritySchemes().get("bearer").getScheme());
            assertOperations(document);
        }
    }

    @Test
    void theDescriptionIsTheSameEveryTime() {
        try (var api = new ApiServer()) {
            assertEquals(api.get("/openapi.json").text(), api.get("/openapi.json").text());
        }
    }

    private static void assertOperations(OpenAPI document) {
        var ids = new HashSet<String>();
        document.getPaths()
                .forEach(
                        (path, item) ->
                                item.readOperations()
                                        .forEach(
                                                operation -> {
                                                    assertTrue(
                                                            ids.add(operation.getOperationId()),
                                                            path);
                                                    assertMarks(path, operation);
                                                }));
        // Eleven operations in two families, one legacy, two open.
        assertEquals(2 * 11 + 1 + 2, ids.size());
        var create = document.getPaths().get("/v5/things").getPost();
        assertEquals(
                "#/components/schemas/CreateThing",
                create.getRequestBody().getContent().get("application/json").getSchema().get$ref());
        assertTrue(
                create.getResponses()
                        .get("409")
                        .getDescription()
                        .contains("`CONFLICT`: the name is taken"));
        assertNotNull(document.getComponents().getSchemas().get("Firewall"));
        var list = document.getPaths().get("/things").getGet();
        assertEquals(
                List.of("limit", "offset", "state", "deep"),
                list.getParameters().stream()
                        .filter(p -> "query".equals(p.getIn()))
                        .map(p -> p.getName())
                        .toList());
        assertNotNull(
                document.getPaths()
                        .get("/v5/things/{thing}")
                        .getDelete()
                        .getResponses()
                        .get("204"));
        assertNotNull(document.getPaths().get("/v5/snapshots/{snapshot}").getGet());
    }

    private static void assertMarks(String path, Operation operation) {
        var isOpen = path.equals("/status") || path.equals("/openapi.json");
        var isVersioned = path.startsWith("/v5/") || path.startsWith("/v1/");
        if (isOpen || isVersioned) {
            assertNull(operation.getDeprecated(), path);
        } else {
            assertEquals(true, operation.getDeprecated(), path);
        }
        assertEquals(isOpen, operation.getSecurity().isEmpty(), path);
    }
}
