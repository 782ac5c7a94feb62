package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.base.Failure;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/// Answers every request by one function, and keeps what the writers of streams met: "closed", or the exception before it.
final class Streaming implements HttpHandler {
    /// Where the failure's code says the status.
    static final int BY_CODE = 599;

    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final Function<HttpRequest, HttpResponse> answer;

    Streaming(Function<HttpRequest, HttpResponse> answer) {
        this.answer = answer;
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        try {
            var response = answer.apply(request);
            return response.body() instanceof ResponseBody.Stream(var length, var writer)
                    ? new HttpResponse(
                            response.status(),
                            response.headers(),
                            new ResponseBody.Stream(length, telling(writer)))
                    : response;
        } catch (Failure e) {
            return HttpResponse.of(400, "text/plain", e.code().name().getBytes(UTF_8));
        }
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        var text = "refused " + refusal.why().code();
        return HttpResponse.of(
                refusal.status().orElse(BY_CODE), "text/plain", text.getBytes(UTF_8));
    }

    static HttpResponse stream(OptionalLong length, BodyWriter writer) {
        return new HttpResponse(200, Headers.none(), new ResponseBody.Stream(length, writer));
    }

    private BodyWriter telling(BodyWriter writer) {
        return new BodyWriter() {
            @Override
            public void write(BodySink sink) {
                try {
                    writer.write(sink);
                } catch (RuntimeException e) {
                    told.add(
                            e instanceof Failure f
                                    ? f.code().name()
                                    : e.getClass().getSimpleName());
                    throw e;
                }
            }

            @Override
            public void close() {
                writer.close();
                told.add("closed");
            }
        };
    }
}
