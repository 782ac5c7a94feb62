package coppice.http;

import java.net.InetAddress;
import java.util.Optional;

/// A request whose head has arrived. `path` and `query` are as sent: percent-encoded, dots and empty segments kept.
///
/// @param peer the other end of the connection, which may be a proxy; absent when there is none
public record HttpRequest(
        String method,
        String path,
        Optional<String> query,
        Headers headers,
        RequestBody body,
        Optional<InetAddress> peer) {

    public HttpRequest(
            String method, String path, Optional<String> query, Headers headers, RequestBody body) {
        this(method, path, query, headers, body, Optional.empty());
    }
}
