package coppice.http;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/// Answers every request with a WebSocket that hands each text to one function and sends back what is binary. `told` has what
/// happened, such as "opened" and "closed 1000 bye".
final class Sockets implements HttpHandler {
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final BiConsumer<WebSocket, String> onText;

    Sockets(BiConsumer<WebSocket, String> onText) {
        this.onText = onText;
    }

    static Sockets echo() {
        return new Sockets(WebSocket::send);
    }

    String next() throws InterruptedException {
        return String.valueOf(told.poll(10, TimeUnit.SECONDS));
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        return request.path().equals("/plain")
                ? HttpResponse.empty(204)
                : HttpResponse.upgrade(new Told());
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        var text = "refused " + refusal.why().code();
        return HttpResponse.of(refusal.status().orElseThrow(), "text/plain", text.getBytes());
    }

    private final class Told implements WebSocketHandler {
        private WebSocket socket;

        @Override
        public void opened(WebSocket opened) {
            socket = opened;
            told.add("opened");
        }

        @Override
        public void text(String message) {
            if (!Thread.currentThread().isVirtual()) {
                throw new IllegalStateException("not a virtual thread");
            }
            onText.accept(socket, message);
        }

        @Override
        public void binary(byte[] message) {
            socket.send(message);
        }

        @Override
        public void closed(int code, String reason) {
            told.add("closed %d %s".formatted(code, reason).strip());
        }
    }
}
