package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.Json;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Every operation that the server says it has, against callers who send garbage or ask for what is not theirs.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileInputIT {
    private static final int OPEN_BODY = 64 << 10;

    @AutoClose private Installation installation;
    private Client owner;
    private Client stranger;
    private String vm;
    private List<Operation> operations;

    private record Operation(String method, String path, JsonObject description) {
        /// Its path for the thing of this name, whatever kind of thing it is about.
        String pathOf(String name) {
            return path.replaceAll("\\{[A-Za-z_]+}", name);
        }

        /// The same with the query that it cannot do without.
        String addressOf(String name) {
            var query = new ArrayList<String>();
            for (var parameter : description.objects("parameters").orElse(List.of())) {
                switch (parameter.string("name").orElse("")) {
                    case "path" -> query.add("path=/x");
                    case "offset" -> query.add("offset=0");
                    default -> {} // not needed
                }
            }
            return pathOf(name) + (query.isEmpty() ? "" : "?" + String.join("&", query));
        }

        /// Whether it takes a JSON object.
        boolean takesBody() {
            return description.has("requestBody")
                    && description
                            .requiredObject("requestBody")
                            .requiredObject("content")
                            .has("application/json");
        }

        /// Whether it looks at bodies of those who have no credential: smaller ones.
        boolean isOpen() {
            return path.startsWith("/api/");
        }

        /// Whether it is not answered unless the request asks for a WebSocket.
        boolean isUpgrade() {
            return description.requiredObject("responses").has("101");
        }
    }

    @BeforeAll
    void start() {
        installation = Installation.start();
        owner = installation.client("main");
        stranger = installation.client("other");
        vm = owner.createVm("{\"slug\":\"mine\",\"firewall\":{\"rules\":[]}}");
        operations = operations();
    }

    private List<Operation> operations() {
        var found = new ArrayList<Operation>();
        var paths = owner.get("/openapi.json").expect(200).requiredObject("paths");
        for (var path : paths.fields()) {
            var item = paths.requiredObject(path);
            for (var method : item.fields()) {
                found.add(
                        new Operation(
                                method.toUpperCase(java.util.Locale.ROOT),
                                path,
                                item.requiredObject(method)));
            }
        }
        assertTrue(found.size() > 20, "the document lists " + found.size());
        return found;
    }

    @Test
    void everyOperationRefusesGarbageAsItsBody() {
        var garbage = new byte[1 << 20];
        new Random(1).nextBytes(garbage);
        var deep = "{\"a\":".repeat(100_000).getBytes(StandardCharsets.UTF_8);
        for (var operation : operations) {
            if (operation.takesBody()) {
                for (var body :
                        List.of(
                                garbage,
                                deep,
                                "[]".getBytes(StandardCharsets.UTF_8),
                                "{\"a\":1,\"a\":2}".getBytes(StandardCharsets.UTF_8))) {
                    var path = operation.pathOf(vm);
                    var answer = stranger.send(operation.method(), path, body);
                    if (operation.isOpen() && body.length > OPEN_BODY) {
                        answer.expect(413, "PAYLOAD_TOO_LARGE");
                    } else {
                        answer.expect(400, "BAD_REQUEST");
                    }
                }
            }
        }
        assertEquals("fine", owner.run(vm, "echo fine"));
    }

    @Test
    void everyFieldOfEveryBodyRefusesTheWrongType() {
        var schemas =
                owner.get("/openapi.json")
                        .expect(200)
                        .requiredObject("components")
                        .requiredObject("schemas");
        int tried = 0;
        for (var operation : operations) {
            if (!operation.takesBody() || !operation.path().startsWith("/v5/")) {
                continue;
            }
            var properties = properties(operation, schemas);
            for (var field : properties.fields()) {
                var type = type(properties.requiredObject(field));
                var wrong = type.equals("string") ? "{\"x\":1}" : type.isEmpty() ? "" : "\"text\"";
                if (!wrong.isEmpty()) {
                    var answer =
                            owner.send(
                                    operation.method(),
                                    operation.pathOf(vm),
                                    "{\"%s\":%s}"
                                            .formatted(field, wrong)
                                            .getBytes(StandardCharsets.UTF_8));
                    answer.expect(400, "BAD_REQUEST");
                    assertTrue(answer.message().startsWith(field), answer.message());
                    tried++;
                }
            }
        }
        assertTrue(tried > 20, "only %d fields".formatted(tried));
    }

    /// One of several is as good as one that is alone.
    private static String type(JsonObject property) {
        return property.value("type")
                .map(type -> type instanceof List<?> several ? several.getFirst() : type)
                .map(String::valueOf)
                .orElse("");
    }

    private static JsonObject properties(Operation operation, JsonObject schemas) {
        var schema =
                operation
                        .description()
                        .requiredObject("requestBody")
                        .requiredObject("content")
                        .requiredObject("application/json")
                        .requiredObject("schema");
        var named =
                schema.string("$ref")
                        .map(ref -> schemas.requiredObject(ref.substring(ref.lastIndexOf('/') + 1)))
                        .orElse(schema);
        return named.object("properties").orElse(JsonObject.empty());
    }

    @Test
    void anothersVmIsExactlyAsAbsentAsOneThatNeverWas() {
        for (var operation : operations) {
            if (operation.path().contains("{vm}") && !operation.isUpgrade()) {
                var never = answer(stranger, operation, "vm-00000000000000000000");
                var anothers = answer(stranger, operation, vm);
                never.expect(404, "NOT_FOUND");
                anothers.expect(404, "NOT_FOUND");
                assertEquals(
                        never.message().replace("vm-00000000000000000000", "VM"),
                        anothers.message().replace(vm, "VM"));
                answer(stranger, operation, "mine").expect(404, "NOT_FOUND");
                answer(stranger, operation, "%2e%2e%2f%2e%2e%2fetc").expect(404, "NOT_FOUND");
                answer(stranger, operation, "a".repeat(2000)).expect(404, "NOT_FOUND");
            }
        }
        assertEquals("running", owner.state(vm));
        assertEquals(0, stranger.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        stranger.createVmFails(
                "{\"firewall\":{\"rules\":[{\"action\":\"allow\",\"source\":{},\"destination\":{\"vmId\":\"%s\"}}]}}"
                        .formatted(vm),
                404);
    }

    private static Client.Answer answer(Client caller, Operation operation, String name) {
        var body =
                operation.takesBody()
                        ? "{\"command\":\"true\",\"cpu\":1,\"displayName\":\"x\"}"
                        : "";
        return caller.send(
                operation.method(),
                operation.addressOf(name),
                body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void withoutAUsableKeyNothingIsSaid() {
        for (var operation : operations) {
            if (operation.path().contains("vms")) {
                for (var key : List.of("", "nonsense", "aaaaaaaaaaaaaaaaaaaa-" + "b".repeat(43))) {
                    var answer = answer(installation.clientWithKey(key), operation, vm);
                    assertEquals(401, answer.status(), operation.toString());
                    assertEquals(
                            "Bearer",
                            answer.response().headers().firstValue("WWW-Authenticate").orElse(""));
                }
            }
        }
    }

    @Test
    void theUnversionedPathsAreTheSameHandlersAndSayThatTheyAreDeprecated() {
        for (var operation : operations) {
            var path = operation.path();
            if (path.startsWith("/v5/")) {
                var old =
                        answer(
                                owner,
                                new Operation(
                                        operation.method(),
                                        path.substring(3),
                                        operation.description()),
                                "nothing-here");
                var now = answer(owner, operation, "nothing-here");
                assertEquals(now.status(), old.status(), path);
                assertEquals(
                        "@1735689600",
                        old.response().headers().firstValue("Deprecation").orElse("none"));
                assertTrue(
                        old.response()
                                .headers()
                                .firstValue("Link")
                                .orElse("")
                                .contains(operation.pathOf("nothing-here")));
                assertTrue(now.response().headers().firstValue("Deprecation").isEmpty());
            }
        }
    }

    @Test
    void aRandomBodyIsNeverAServersFault() {
        var seed = System.nanoTime();
        System.out.println("seed " + seed);
        var random = new Random(seed);
        var words =
                List.of(
                        "firewall",
                        "rules",
                        "slug",
                        "metadata",
                        "vpcs",
                        "tls",
                        "placement",
                        "cpu",
                        "command",
                        "cidr",
                        "snapshotId",
                        "persistence",
                        "ports",
                        "name",
                        "count");
        var takers = operations.stream().filter(Operation::takesBody).toList();
        for (int i = 0; i < 300; i++) {
            var operation = takers.get(random.nextInt(takers.size()));
            var body = Json.writeValue(value(random, words, 0));
            var answer = stranger.send(operation.method(), operation.pathOf(vm), body);
            forget(operation, answer);
            assertTrue(
                    answer.status() < 500,
                    () ->
                            operation.path()
                                    + " "
                                    + new String(body, StandardCharsets.UTF_8)
                                    + ": "
                                    + answer.message());
        }
    }

    /// An old create needs no field: what it makes of garbage that it may ignore must not stay.
    private void forget(Operation operation, Client.Answer answer) {
        if (operation.path().equals("/v1/vms") && answer.status() == 200) {
            stranger.delete("/v5/vms/" + answer.body().requiredString("id")).expect(204);
        }
    }

    private static Object value(Random random, List<String> words, int depth) {
        int kind = depth == 0 ? 0 : random.nextInt(depth > 5 ? 5 : 7);
        return switch (kind) {
            case 0, 6 -> {
                var object = new java.util.LinkedHashMap<String, Object>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    object.put(
                            words.get(random.nextInt(words.size())),
                            value(random, words, depth + 1));
                }
                yield object;
            }
            case 1 -> random.nextLong();
            case 2 -> random.nextBoolean();
            case 3 -> random.nextDouble();
            case 5 -> List.of(value(random, words, depth + 1));
            default ->
                    words.get(random.nextInt(words.size()))
                            + (random.nextBoolean() ? "" : "\u0000\uFFFD/..");
        };
    }
}
