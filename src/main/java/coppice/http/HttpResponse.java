package coppice.http;

/// An answer. Content-Length, Date and the framing are the server's; everything else is in `headers`.
public record HttpResponse(int status, Headers headers, ResponseBody body) {

    public static HttpResponse of(int status, String contentType, byte[] bytes) {
        return new HttpResponse(
                status, Headers.of("Content-Type", contentType), new ResponseBody.Bytes(bytes));
    }

    public static HttpResponse empty(int status) {
        return new HttpResponse(status, Headers.none(), new ResponseBody.None());
    }

    /// Goes on as a WebSocket.
    public static HttpResponse upgrade(WebSocketHandler handler) {
        return new HttpResponse(101, Headers.none(), new ResponseBody.Upgrade(handler));
    }

    public HttpResponse with(Headers more) {
        return new HttpResponse(status, headers.and(more), body);
    }
}
