package coppice.main;

import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/// One operation of an OpenAPI document.
///
/// @param path with its parameters in braces
/// @param text what the document says of it
record PublishedOperation(String method, String path, JsonNode text) {
    private static final Pattern PARAMETER = Pattern.compile("\\{[A-Za-z_]+}");
    private static final Pattern CODE = Pattern.compile("^`([A-Z_]+)`:", Pattern.MULTILINE);

    /// Where an operation is served, and with which shapes.
    enum Family {
        V5,
        UNVERSIONED,
        LEGACY,
        OPEN
    }

    String id() {
        return text.get("operationId").asString();
    }

    boolean isDeprecated() {
        return text.path("deprecated").asBoolean(false);
    }

    /// Whether one must say who one is.
    boolean needsCredential() {
        return !text.get("security").isEmpty();
    }

    Family family() {
        if (path.startsWith("/v5/")) {
            return Family.V5;
        }
        if (!needsCredential() || path.startsWith("/api/")) {
            return Family.OPEN;
        }
        return path.matches("/([a-z]+/)?v1/.*") ? Family.LEGACY : Family.UNVERSIONED;
    }

    boolean isServedAt(String method, String raw) {
        return this.method.equals(method)
                && raw.matches(PARAMETER.matcher(path).replaceAll("[^/]+"));
    }

    int parameters() {
        return (int) PARAMETER.matcher(path).results().count();
    }

    /// Its path for things of this name, whatever kind of thing it is about.
    String pathOf(String name) {
        return PARAMETER.matcher(path).replaceAll(name);
    }

    /// The schema of the JSON object that it takes; missing when it takes none.
    JsonNode taken() {
        return text.at("/requestBody/content/application~1json/schema");
    }

    boolean takesJson() {
        return !taken().isMissingNode();
    }

    /// Whether that object has fields that it knows.
    boolean takesFields() {
        return taken().has("$ref") || !taken().path("properties").isEmpty();
    }

    /// An example of that object; missing when there is none.
    JsonNode example() {
        return text.at("/requestBody/content/application~1json/example");
    }

    /// Whether it makes something, which is made once for each `Idempotency-Key`.
    boolean isCreate() {
        return StreamSupport.stream(text.path("parameters").spliterator(), false)
                .anyMatch(it -> it.path("$ref").asString("").endsWith("/idempotencyKey"));
    }

    /// Whether its answer is a WebSocket.
    boolean isUpgrade() {
        return text.get("responses").has("101");
    }

    /// Whether it answers what another call answers.
    boolean isReplay() {
        return text.get("responses").has("default");
    }

    boolean hasQuery(String name) {
        return StreamSupport.stream(text.path("parameters").spliterator(), false)
                .filter(parameter -> parameter.path("in").asString("").equals("query"))
                .anyMatch(parameter -> parameter.get("name").asString().equals(name));
    }

    /// What is said of answers with this status; missing when it is not among those that are expected.
    JsonNode answer(int status) {
        var answers = text.get("responses");
        return answers.has(Integer.toString(status))
                ? answers.get(Integer.toString(status))
                : answers.path("default");
    }

    /// The codes of the failures with this status.
    Set<String> codes(int status) {
        return CODE.matcher(answer(status).path("description").asString(""))
                .results()
                .map(code -> code.group(1))
                .collect(Collectors.toSet());
    }
}
