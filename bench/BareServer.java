import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// The floor of the API: the server's library alone, with the threads and buffers that `coppice.http.HttpServer` gives it. It answers
/// `/N` with N bytes that are always the same.
final class BareServer extends Handler.Abstract {
    private static final int POOLED = 8 << 20;

    private final List<String> headers;
    private final Map<String, byte[]> bodies = new ConcurrentHashMap<>();

    private BareServer(List<String> headers) {
        this.headers = headers;
    }

    /// @param arguments the port, then name and value of each header by turns
    public static void main(String[] arguments) throws Exception {
        var pool = new QueuedThreadPool(8, 3);
        pool.setReservedThreads(0);
        pool.setVirtualThreadsExecutor(
                Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("conn-", 0).factory()));
        var server =
                new Server(pool, null, new ArrayByteBufferPool(0, 4096, 65536, 64, POOLED, POOLED));
        var http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendXPoweredBy(false);
        http.setHeaderCacheSize(0);
        var connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setIdleTimeout(60_000);
        server.addConnector(connector);
        server.setHandler(new BareServer(List.of(arguments).subList(1, arguments.length)));
        server.start();
        server.join();
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        var body = bodies.computeIfAbsent(request.getHttpURI().getPath(), BareServer::body);
        response.setStatus(200);
        for (int i = 0; i < headers.size(); i += 2) {
            response.getHeaders().add(headers.get(i), headers.get(i + 1));
        }
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
        return true;
    }

    /// @param path the number of bytes after a slash
    static byte[] body(String path) {
        var body = new byte[Integer.parseInt(path.substring(1))];
        Arrays.fill(body, (byte) 'x');
        return body;
    }
}
