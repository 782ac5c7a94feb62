package coppice.api;

import coppice.base.Size;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// How the API presents itself.
///
/// - `baseUrl`: where clients reach it; may have a path, which then starts every request's path.
/// - `brand`: the word inside header names, beside `svc`, which is always understood.
/// - `deprecatedSince`: since when the unversioned paths are deprecated.
/// - `maxJson`, `bodyTime`: how large a JSON body may be, and how long it may take to arrive.
/// - `origins`: whose pages may use the API from a browser; `*` is any.
/// - `rate`: how often an account may call; absent: as often as it likes.
/// - `maxJsonAtOnce`: all large JSON bodies that are being read at one time; beyond it callers are told to come back.
public record ApiSettings(
        URI baseUrl,
        String brand,
        Instant deprecatedSince,
        Size maxJson,
        Size maxJsonAtOnce,
        Duration bodyTime,
        List<String> origins,
        Optional<CallRate> rate) {

    public ApiSettings {
        origins = List.copyOf(origins);
        if (!baseUrl.isAbsolute() || baseUrl.getRawQuery() != null) {
            throw new IllegalArgumentException("the base URL is like https://api.example.com/path");
        }
        if (maxJsonAtOnce.compareTo(maxJson) < 0) {
            throw new IllegalArgumentException("one JSON body of full size must fit");
        }
        if (!brand.matches("[a-z][a-z0-9]*")) {
            throw new IllegalArgumentException("the brand is a word of a-z and 0-9");
        }
    }

    public static ApiSettings at(URI baseUrl) {
        return new ApiSettings(
                baseUrl,
                "svc",
                Instant.parse("2025-01-01T00:00:00Z"),
                Size.ofMib(16),
                Size.ofMib(64),
                Duration.ofSeconds(60),
                List.of("*"),
                Optional.empty());
    }

    /// The path part of the base URL, without a slash at the end; often empty.
    String pathPrefix() {
        var path = baseUrl.getRawPath();
        return path == null ? "" : path.replaceAll("/+$", "");
    }

    /// The base URL without a slash at the end.
    String base() {
        return baseUrl.toString().replaceAll("/+$", "");
    }
}
