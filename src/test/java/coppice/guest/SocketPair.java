package coppice.guest;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;

/// Two connected UNIX sockets in blocking mode.
record SocketPair(SocketChannel host, SocketChannel agent) {
    static SocketPair open() throws IOException {
        var directory = Files.createTempDirectory("guest");
        var path = directory.resolve("agent.sock");
        try (var server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            var address = UnixDomainSocketAddress.of(path);
            server.bind(address);
            return new SocketPair(SocketChannel.open(address), server.accept());
        } finally {
            Files.deleteIfExists(path);
            Files.delete(directory);
        }
    }
}
