package coppice.api.v5;

import coppice.api.Api;
import coppice.api.ApiCaller;
import coppice.api.ApiSettings;
import coppice.api.Caller;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.vm.GivenTerminals;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.UUID;

/// A real server for the terminals of [GivenTerminals], and clients of it.
final class TerminalServer implements AutoCloseable {
    final GivenTerminals given = new GivenTerminals();
    private final HttpServer server;

    TerminalServer() {
        server =
                HttpServer.start(
                        new InetSocketAddress("127.0.0.1", 0),
                        HttpLimits.DEFAULT,
                        new Api(
                                ApiSettings.at(URI.create("https://api.test")),
                                key -> new Caller(UUID.fromString(key.reveal())),
                                new TerminalRoutes(given.terminals()).routes()));
    }

    ApiCaller ada() {
        return new ApiCaller(new TerminalRoutes(given.terminals()).routes(), given.ada().uuid());
    }

    /// Opens a WebSocket at this path below the VM's terminals.
    TerminalPeer open(String path) {
        return TerminalPeer.open(address("web", path), given.ada().toString());
    }

    int refused(String path) {
        return TerminalPeer.refused(address("web", path), given.ada().toString());
    }

    URI address(String vm, String path) {
        return URI.create("ws://127.0.0.1:%d/v5/vms/%s/pty%s".formatted(server.port(), vm, path));
    }

    void stopServer() {
        server.close();
    }

    @Override
    public void close() {
        server.close();
        given.close();
    }
}
