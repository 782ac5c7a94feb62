package coppice.http;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Arrays;
import java.util.Base64;

/// The opening handshake of WebSockets, RFC 6455, 4.2.1: looked at before anything is done for the request.
public final class Handshake {
    public static final String VERSION = "13";

    private Handshake() {}

    /// Refuses a request that cannot be answered by an upgrade. The Origin is not looked at: what may open a socket is a
    /// credential in a header, which no browser adds on its own for another site's page.
    ///
    /// @throws Failure [Code#UPGRADE_REQUIRED] when the request does not ask for a WebSocket of this version;
    ///     [Code#BAD_REQUEST] when it does so wrongly.
    public static void check(HttpRequest request) {
        if (!isAsked(request)) {
            throw required("this path is a WebSocket; open it as one, with Upgrade: websocket");
        }
        var headers = request.headers();
        if (!headers.all("Sec-WebSocket-Version").stream()
                        .map(String::strip)
                        .allMatch(VERSION::equals)
                || !headers.has("Sec-WebSocket-Version")) {
            throw required("only version 13 of WebSocket is spoken; ask for that one");
        }
        var keys = headers.all("Sec-WebSocket-Key");
        if (keys.size() != 1 || !isKey(keys.getFirst().strip())) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "Sec-WebSocket-Key is not 16 bytes in Base64; send one such key");
        }
        if (request.body().length().orElse(1) > 0) {
            throw new Failure(
                    Code.BAD_REQUEST, "a request for a WebSocket has no body; send it without");
        }
    }

    /// Whether the request wants to become a WebSocket, be it rightly or wrongly.
    static boolean isAsked(HttpRequest request) {
        return request.method().equals("GET")
                && hasToken(request.headers(), "Upgrade", "websocket")
                && hasToken(request.headers(), "Connection", "upgrade");
    }

    private static Failure required(String message) {
        return new Failure(Code.UPGRADE_REQUIRED, message);
    }

    private static boolean hasToken(Headers headers, String name, String token) {
        return headers.all(name).stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .anyMatch(value -> value.strip().equalsIgnoreCase(token));
    }

    private static boolean isKey(String key) {
        try {
            return Base64.getDecoder().decode(key).length == 16;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }
}
