import coppice.http.Headers;
import coppice.http.HttpHandler;
import coppice.http.HttpLimits;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.HttpServer;
import coppice.http.Refusal;
import coppice.http.ResponseBody;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// What a [BareServer] answers, answered by the server's own HTTP engine.
final class BareEngine implements HttpHandler {
    private final Headers headers;
    private final Map<String, ResponseBody> bodies = new ConcurrentHashMap<>();

    private BareEngine(Headers headers) {
        this.headers = headers;
    }

    /// @param arguments as for [BareServer]
    public static void main(String[] arguments) throws Exception {
        var words = List.of(arguments);
        var fields = new ArrayList<Headers.Field>();
        for (int i = 1; i < words.size(); i += 2) {
            fields.add(new Headers.Field(words.get(i), words.get(i + 1)));
        }
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(words.getFirst()));
        var engine = new BareEngine(new Headers(fields));
        try (var _ = HttpServer.start(address, HttpLimits.DEFAULT, engine)) {
            Thread.currentThread().join(); // until it is killed
        }
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        var body =
                bodies.computeIfAbsent(
                        request.path(), path -> new ResponseBody.Bytes(BareServer.body(path)));
        return new HttpResponse(200, headers, body);
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        return HttpResponse.empty(500);
    }
}
