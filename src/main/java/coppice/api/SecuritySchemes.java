package coppice.api;

import coppice.json.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// How callers say who they are, as the OpenAPI document names it.
final class SecuritySchemes {
    private static final String BEARER = "bearer";
    private static final String AUTHORIZATION = "Authorization";

    private SecuritySchemes() {}

    /// The name of an operation's scheme; absent where nobody asks who is calling.
    static Optional<String> of(Served served) {
        return served.family().needsCredential()
                ? Optional.of(BEARER)
                : served.route()
                        .admission()
                        .secret()
                        .map(header -> header.equals(AUTHORIZATION) ? BEARER : header);
    }

    /// All of these operations, by their names.
    static Map<String, Object> all(List<Served> operations, String brand) {
        var schemes = new TreeMap<String, Object>();
        operations.stream()
                .flatMap(served -> served.route().admission().secret().stream())
                .forEach(
                        header ->
                                schemes.put(
                                        header,
                                        Map.of("type", "apiKey", "in", "header", "name", header)));
        schemes.remove(AUTHORIZATION);
        schemes.put(
                BEARER,
                new JsonWriter()
                        .put("type", "http")
                        .put("scheme", "bearer")
                        .put(
                                "description",
                                "An API key; or the access token of a sign-in, with a team's id in the header X-%s-Team-Id."
                                        .formatted(brand)));
        return schemes;
    }
}
