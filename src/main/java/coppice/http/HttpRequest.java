package coppice.http;

import java.util.Optional;

/// A request whose head has arrived. `path` and `query` are as sent: percent-encoded, dots and empty segments kept.
public record HttpRequest(
        String method, String path, Optional<String> query, Headers headers, RequestBody body) {}
