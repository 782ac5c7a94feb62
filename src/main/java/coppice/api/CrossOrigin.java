package coppice.api;

import coppice.http.Headers;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Lets pages of other origins use the API from a browser: the CORS protocol of the Fetch standard. Credentials are headers that a page
/// must have been given, never cookies, so a page of another origin can do nothing by the mere visit of somebody.
final class CrossOrigin {
    private static final String MAX_AGE = "600";
    private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9-]+( *, *[A-Za-z0-9-]+)*");
    private static final int MAX_NAMES = 2000;

    /// What a page may read beside the headers that it always may.
    private static final List<String> EXPOSED =
            List.of(
                    "Content-Range",
                    "Deprecation",
                    "Link",
                    "Retry-After",
                    "WWW-Authenticate",
                    Api.REQUEST_ID);

    private final List<String> origins;
    private final String exposed;

    /// @param origins those that may; `*` is any
    CrossOrigin(List<String> origins, BrandedHeader headers) {
        this.origins = origins;
        this.exposed =
                String.join(", ", EXPOSED)
                        + ", "
                        + String.join(", ", headers.names(Background.ID_HEADER));
    }

    /// Whether a browser asks what it may send.
    static boolean isPreflight(HttpRequest request) {
        return request.method().equals("OPTIONS")
                && request.headers().has("Origin")
                && request.headers().has("Access-Control-Request-Method");
    }

    /// @param methods that the path has
    HttpResponse preflight(HttpRequest request, String methods) {
        var answer = HttpResponse.empty(204).with(Headers.of("Allow", methods));
        if (origin(request).isEmpty()) {
            return answer;
        }
        var names =
                request.headers()
                        .first("Access-Control-Request-Headers")
                        .map(String::strip)
                        .filter(it -> it.length() <= MAX_NAMES && NAMES.matcher(it).matches());
        var allowed =
                Headers.of("Access-Control-Allow-Methods", methods)
                        .and("Access-Control-Max-Age", MAX_AGE);
        return answer.with(
                names.map(it -> allowed.and("Access-Control-Allow-Headers", it)).orElse(allowed));
    }

    /// Adds to an answer who may read it.
    HttpResponse readable(HttpRequest request, HttpResponse answer) {
        if (!request.headers().has("Origin") || origins.isEmpty()) {
            return answer;
        }
        var named = origins.contains("*") ? answer : answer.with(Headers.of("Vary", "Origin"));
        return origin(request)
                .map(
                        origin ->
                                named.with(
                                        Headers.of("Access-Control-Allow-Origin", origin)
                                                .and("Access-Control-Expose-Headers", exposed)))
                .orElse(named);
    }

    private Optional<String> origin(HttpRequest request) {
        return origins.contains("*")
                ? Optional.of("*")
                : request.headers().first("Origin").filter(origins::contains);
    }
}
