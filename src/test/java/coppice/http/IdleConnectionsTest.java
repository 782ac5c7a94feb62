package coppice.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Size;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A connection costs its peer next to nothing, and there may be thousands of them.
class IdleConnectionsTest {
    private static final int CONNECTIONS = 400;
    private static final int WARM = 20;
    private static final int FIELDS = 50;
    private static final String VALUE = "v".repeat(200);

    /// All connections that there may be at once, over each of the protocols, must fit into the server's heap beside its work.
    private static final Size MOST = new Size(24 << 10);

    private interface Peers {
        AutoCloseable open(int port, int number) throws IOException;
    }

    @Test
    void ofHttp1KeepLittleMemory() throws Exception {
        assertSmall(
                (port, number) -> {
                    var peer = new RawPeer(port);
                    var fields = new StringBuilder();
                    for (int i = 0; i < FIELDS; i++) {
                        fields.append("X-%d-%d: %s\r\n".formatted(number, i, VALUE));
                    }
                    fields.append("Authorization: Bearer %s\r\n".formatted(VALUE));
                    for (int i = 0; i < 3; i++) {
                        peer.send("GET /a HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
                        assertEquals(200, peer.answer().status());
                    }
                    return peer;
                });
    }

    @Test
    void thatNeverSaidAnythingKeepLittleMemory() throws Exception {
        assertSmall((port, _) -> new RawPeer(port));
    }

    @Test
    void ofHttp2KeepLittleMemory() throws Exception {
        assertSmall(
                (port, number) -> {
                    var peer = Http2Peer.connected(port);
                    var parts = new ArrayList<byte[]>(List.of(Http2Peer.head("GET", "/a")));
                    for (int i = 0; i < FIELDS; i++) {
                        parts.add(Http2Peer.keptField("x-%d-%d".formatted(number, i), VALUE));
                    }
                    int flags = Http2Peer.END_HEADERS | Http2Peer.END_STREAM;
                    var head = Http2Peer.join(parts.toArray(byte[][]::new));
                    assertTrue(peer.send(Http2Peer.HEADERS, flags, 1, head).isAnswered(1));
                    return peer;
                });
    }

    private static void assertSmall(Peers peers) throws Exception {
        var open = new ArrayList<AutoCloseable>();
        var address = new InetSocketAddress("127.0.0.1", 0);
        try (var server = HttpServer.start(address, HttpLimits.DEFAULT, new Echo())) {
            for (int i = 0; i < WARM; i++) {
                open.add(peers.open(server.port(), i));
            }
            long before = used();
            for (int i = 0; i < CONNECTIONS; i++) {
                open.add(peers.open(server.port(), WARM + i));
            }
            long each = (used() - before) / CONNECTIONS;
            assertTrue(each < MOST.bytes(), each + " bytes for each connection");
        } finally {
            for (var peer : open) {
                peer.close();
            }
        }
    }

    /// The peers' own part, some KiB for each, counts as well.
    private static long used() {
        var runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
