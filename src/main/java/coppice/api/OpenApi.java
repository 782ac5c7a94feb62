package coppice.api;

import static coppice.json.Presence.ALWAYS;

import coppice.base.Code;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// Writes the route table as an OpenAPI 3.1 document.
final class OpenApi {
    static final Schema STATUS =
            Schema.object("Status").field("status", Schema.string(), ALWAYS, "Always `ok`.");
    static final Schema DOCUMENT = new Schema.MapOf(Schema.anything());

    private static final Schema.ObjectOf ERROR =
            Schema.object("Error")
                    .field("code", Schema.string(), ALWAYS, "Stable, for programs.")
                    .field("message", Schema.string(), ALWAYS, "For people.");
    private static final Schema.ObjectOf LEGACY_ERROR =
            Schema.object("LegacyError")
                    .with(ERROR)
                    .field("error", Schema.string(), ALWAYS, "Equal to `code`.")
                    .field("description", Schema.string(), ALWAYS, "Equal to `message`.");

    private static final String FORM = "application/x-www-form-urlencoded";

    private final ApiSettings settings;
    private final List<Served> operations;
    private final Map<String, Object> schemas = new TreeMap<>();

    OpenApi(ApiSettings settings, List<Served> operations) {
        this.settings = settings;
        this.operations =
                operations.stream().filter(served -> served.family().isDocumented()).toList();
    }

    JsonWriter document() {
        var paths = new LinkedHashMap<String, Map<String, Object>>();
        for (var served : operations) {
            paths.computeIfAbsent(served.template().toString(), _ -> new LinkedHashMap<>())
                    .put(
                            served.route().method().name().toLowerCase(Locale.ROOT),
                            operation(served));
        }
        return new JsonWriter()
                .put("openapi", "3.1.0")
                .put("info", new JsonWriter().put("title", "Coppice").put("version", "0.1.0"))
                .put("servers", List.of(Map.of("url", settings.base())))
                .put("paths", paths)
                .put("components", components());
    }

    private JsonWriter components() {
        var after =
                new JsonWriter()
                        .put("name", BackgroundAfter.TEMPLATE.formatted(settings.brand()))
                        .put("in", "header")
                        .put(
                                "description",
                                "Seconds after which the call is to go on in the background.")
                        .put(
                                "schema",
                                new JsonWriter()
                                        .put("type", "number")
                                        .put("minimum", 0)
                                        .put("maximum", 3600));
        return new JsonWriter()
                .put("schemas", schemas)
                .put("parameters", Map.of("backgroundAfter", after, "idempotencyKey", once()))
                .put("securitySchemes", SecuritySchemes.all(operations, settings.brand()));
    }

    private static JsonWriter once() {
        return new JsonWriter()
                .put("name", OnceOnly.HEADER)
                .put("in", "header")
                .put(
                        "description",
                        "Has it made once: for a day, the same request with the same key gets the same answer.")
                .put(
                        "schema",
                        new JsonWriter()
                                .put("type", "string")
                                .put("minLength", 1)
                                .put("maxLength", 255));
    }

    private JsonWriter operation(Served served) {
        var description = served.route().description();
        var operation =
                new JsonWriter()
                        .put("operationId", served.operationId())
                        .put("tags", List.of(description.tag()))
                        .put("summary", description.summary());
        if (served.family().isDeprecated()) {
            operation.put("deprecated", true);
        }
        var parameters = parameters(served);
        if (!parameters.isEmpty()) {
            operation.put("parameters", parameters);
        }
        switch (description.input()) {
            case Input.None _ -> {}
            case Input.Json json ->
                    operation.put(
                            "requestBody",
                            content(
                                    Reply.JSON,
                                    new JsonWriter()
                                            .put("schema", describe(json.schema()))
                                            .put("example", json.example().map(OpenApi::parsed))));
            case Input.Form form ->
                    operation.put("requestBody", content(FORM, describe(form.schema())));
            case Input.Bytes _ -> operation.put("requestBody", content(Reply.OCTETS, Map.of()));
        }
        return operation
                .put("responses", responses(served))
                .put(
                        "security",
                        SecuritySchemes.of(served).map(it -> Map.of(it, List.of())).stream()
                                .toList());
    }

    private List<JsonWriter> parameters(Served served) {
        var parameters = new ArrayList<JsonWriter>();
        for (var name : served.template().parameters()) {
            parameters.add(
                    new JsonWriter()
                            .put("name", name)
                            .put("in", "path")
                            .put("required", true)
                            .put("schema", describe(Schema.string())));
        }
        for (var query : served.route().query()) {
            parameters.add(
                    new JsonWriter()
                            .put("name", query.name())
                            .put("in", "query")
                            .put("description", query.description())
                            .put("schema", describe(query.type())));
        }
        if (served.route().description().isCreate()) {
            parameters.add(new JsonWriter().put("$ref", "#/components/parameters/idempotencyKey"));
        }
        if (served.family().needsCredential() && served.route().isDeferrable(false)) {
            parameters.add(new JsonWriter().put("$ref", "#/components/parameters/backgroundAfter"));
        }
        return parameters;
    }

    private Map<String, Object> responses(Served served) {
        var responses = successes(served);
        responses.putAll(failed(served));
        return responses;
    }

    private Map<String, Object> successes(Served served) {
        var responses = new TreeMap<String, Object>();
        switch (served.route().description().output()) {
            case Output.NoContent _ -> responses.put("204", Map.of("description", "Done."));
            case Output.Json json ->
                    responses.put("200", answer(Reply.JSON, describe(json.schema()), "OK"));
            case Output.Html _ ->
                    responses.put("200", answer(Reply.HTML, describe(Schema.string()), "A page."));
            case Output.Bytes _ -> responses.put("200", answer(Reply.OCTETS, Map.of(), "OK"));
            case Output.Ranges _ -> {
                responses.put("200", answer(Reply.OCTETS, Map.of(), "All of it."));
                responses.put("206", answer(Reply.OCTETS, Map.of(), "The range asked for."));
            }
            case Output.Lines _ ->
                    responses.put(
                            "200",
                            answer(
                                    Reply.LINES,
                                    describe(Schema.string()),
                                    "Lines, each as soon as it is known, until the caller hangs up."));
            case Output.Replay _ ->
                    responses.put(
                            "default",
                            answer("*/*", Map.of(), "What the request answered, if it is over."));
            case Output.Upgrade _ ->
                    responses.put("101", Map.of("description", "The connection is a WebSocket."));
        }
        if (served.family().needsCredential() && served.route().isDeferrable(false)
                || served.route().description().output() instanceof Output.Replay) {
            responses.put(
                    "202",
                    answer(
                            Reply.JSON,
                            describe(Background.RUNNING),
                            "It goes on; poll for its end."));
        }
        return responses;
    }

    private Map<String, Object> failed(Served served) {
        var responses = new TreeMap<String, Object>();
        var causes = new TreeMap<Integer, List<String>>();
        failures(served)
                .forEach(
                        failure ->
                                causes.computeIfAbsent(
                                                Errors.status(failure.code().kind()),
                                                _ -> new ArrayList<>())
                                        .add("`%s`: %s".formatted(failure.code(), failure.when())));
        var media = new TreeMap<String, Object>();
        var error = served.family() == Family.LEGACY ? LEGACY_ERROR : ERROR;
        media.put(Reply.JSON, Map.of("schema", describe(error)));
        if (served.route().description().output() instanceof Output.Html) {
            media.put(Reply.HTML, Map.of("schema", describe(Schema.string())));
        }
        causes.forEach(
                (status, lines) ->
                        responses.put(
                                status.toString(),
                                new JsonWriter()
                                        .put("content", media)
                                        .put("description", String.join("\n\n", lines))));
        return responses;
    }

    /// What the route names, and what any operation may answer.
    private static Stream<Outcome> failures(Served served) {
        var description = served.route().description();
        var any = Stream.<Outcome>builder();
        any.add(new Outcome(Code.INTERNAL_ERROR, "unexpected failure"));
        any.add(new Outcome(Code.UNAVAILABLE, "a needed part is down; retry"));
        boolean takesJson = description.input() instanceof Input.Json;
        if (served.family().needsCredential() || takesJson) {
            any.add(new Outcome(Code.BAD_REQUEST, "malformed or invalid input"));
        }
        if (served.family().needsCredential()) {
            callers(served).forEach(any::add);
        }
        if (!served.template().parameters().isEmpty()) {
            any.add(new Outcome(Code.NOT_FOUND, "absent, or of another account"));
        }
        if (takesJson) {
            any.add(new Outcome(Code.PAYLOAD_TOO_LARGE, "the body is too large"));
            any.add(new Outcome(Code.UNSUPPORTED_MEDIA_TYPE, "the body is not JSON"));
        }
        if (description.isCreate()) {
            any.add(new Outcome(Code.CONFLICT, "the Idempotency-Key is another request's"));
        }
        if (description.output() instanceof Output.Upgrade) {
            any.add(new Outcome(Code.UPGRADE_REQUIRED, "the request does not ask for a WebSocket"));
        }
        return Stream.concat(description.failures().stream(), any.build());
    }

    /// What may be wrong with who calls.
    private static List<Outcome> callers(Served served) {
        var outcomes = new ArrayList<>(strangers(served));
        outcomes.add(new Outcome(Code.INVALID_CLI_TEAM_HEADER, "the team header names no team"));
        outcomes.add(new Outcome(Code.CLI_TEAM_ACCESS_DENIED, "signed in, and not in that team"));
        outcomes.add(
                new Outcome(
                        Code.CLI_TEAM_RESOLVER_UNAVAILABLE, "nobody can tell whose the team is"));
        outcomes.add(
                new Outcome(
                        Code.KEY_RESOLVER_UNAVAILABLE, "nobody can tell whose the credential is"));
        outcomes.add(new Outcome(Code.RATE_LIMITED, "the account calls too often"));
        if (!served.route().admission().isForIdentities()) {
            outcomes.add(new Outcome(Code.FORBIDDEN, "called with an identity access token"));
        }
        return outcomes;
    }

    private static List<Outcome> strangers(Served served) {
        if (served.family() == Family.LEGACY) {
            return List.of(new Outcome(Code.UNAUTHORIZED_ERROR, "no usable credential"));
        }
        var admission = served.route().admission();
        if (admission.stranger().isPresent()) {
            return List.of(new Outcome(admission.stranger().get(), "no usable credential"));
        }
        var outcomes = new ArrayList<Outcome>();
        outcomes.add(new Outcome(Code.MISSING_CREDENTIALS, "no credential"));
        outcomes.add(new Outcome(Code.INVALID_API_KEY, "the API key is unknown or revoked"));
        outcomes.add(
                new Outcome(Code.INVALID_IDENTITY_TOKEN, "the access token is unknown or revoked"));
        outcomes.add(new Outcome(Code.INVALID_CLI_CREDENTIAL, "the sign-in token is invalid"));
        return outcomes;
    }

    private Map<String, Object> describe(Schema schema) {
        return schema.describe(schemas);
    }

    private static JsonWriter answer(String type, Map<String, Object> schema, String description) {
        return content(type, schema).put("description", description);
    }

    private static JsonWriter content(String type, Map<String, Object> schema) {
        return content(type, new JsonWriter().put("schema", schema));
    }

    private static JsonWriter content(String type, JsonWriter media) {
        return new JsonWriter().put("content", Map.of(type, media));
    }

    private static JsonObject parsed(String example) {
        return Json.parse(example.getBytes(StandardCharsets.UTF_8));
    }
}
