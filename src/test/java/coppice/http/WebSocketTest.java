package coppice.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocket.Listener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Against the JDK's client.
class WebSocketTest {

    @Test
    void textsOfAnySizeArriveWholeAndInOrderBothWays() throws Exception {
        var random = Seed.random(WebSocketTest.class);
        var client = HttpClient.newHttpClient();
        try (var server = start(Sockets.echo())) {
            var peer = new Peer();
            var socket = peer.open(client, server.port());
            for (int round = 0; round < 40; round++) {
                var text = "ä𝄞x".repeat(round == 0 ? 140_000 : random.nextInt(1000));
                int at = 4 * random.nextInt(text.length() / 4 + 1); // not inside a pair
                socket.sendText(text.substring(0, at), false).get(10, TimeUnit.SECONDS);
                socket.sendText(text.substring(at), true).get(10, TimeUnit.SECONDS);
                assertEquals(text, peer.next());
            }
            socket.sendClose(4000, "enough").get(10, TimeUnit.SECONDS);
            assertEquals("closed 4000", peer.next());
        } finally {
            client.shutdownNow();
        }
    }

    @Test
    void fiveHundredSocketsAreOpenAtOnceAndAStoppingServerClosesThemAll() throws Exception {
        var sockets = Sockets.echo();
        var server = start(sockets);
        var client = HttpClient.newHttpClient();
        try {
            var peers = new ArrayList<Peer>();
            for (int i = 0; i < 500; i++) {
                var peer = new Peer();
                peer.open(client, server.port());
                peers.add(peer);
            }
            for (var peer : peers) {
                peer.socket.sendText("here", true);
            }
            for (var peer : peers) {
                assertEquals("here", peer.next());
            }
            var stop = Thread.ofVirtual().start(server::close);
            for (var peer : peers) {
                assertEquals("closed 1001", peer.next());
            }
            assertTrue(stop.join(Duration.ofSeconds(10)));
        } finally {
            client.shutdownNow();
            server.close();
        }
        var told = new ArrayList<String>();
        sockets.told.drainTo(told);
        assertEquals(500, told.stream().filter(text -> text.startsWith("closed 1001 ")).count());
    }

    private static HttpServer start(HttpHandler handler) {
        return HttpServer.start(new InetSocketAddress("127.0.0.1", 0), HttpLimits.DEFAULT, handler);
    }

    private static final class Peer implements Listener {
        private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        private final StringBuilder text = new StringBuilder();
        private WebSocket socket;

        WebSocket open(HttpClient client, int port) throws Exception {
            socket =
                    client.newWebSocketBuilder()
                            .buildAsync(URI.create("ws://127.0.0.1:" + port + "/"), this)
                            .get(10, TimeUnit.SECONDS);
            return socket;
        }

        String next() throws InterruptedException {
            return String.valueOf(messages.poll(10, TimeUnit.SECONDS));
        }

        // tidy: the interface is the JDK's
        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
            text.append(part);
            if (isLast) {
                messages.add(text.toString());
                text.setLength(0);
            }
            from.request(1);
            return null;
        }

        // tidy: the interface is the JDK's
        @Override
        public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
            messages.add("closed " + code);
            return null;
        }
    }
}
