package coppice.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/// Answers with what it was asked; `/wait` waits for the latch, `/throw` throws, `/unread` leaves the body.
final class Echo implements HttpHandler {
    final CountDownLatch arrived = new CountDownLatch(1);
    final Semaphore waiting = new Semaphore(0);
    final CountDownLatch release = new CountDownLatch(1);
    volatile boolean wasVirtual;

    @Override
    public HttpResponse handle(HttpRequest request) {
        wasVirtual = Thread.currentThread().isVirtual();
        switch (request.path()) {
            case "/throw" -> throw new IllegalStateException("secret inside");
            case "/unread" -> {
                return text(200, "unread");
            }
            case "/wait" -> {
                arrived.countDown();
                waiting.release();
                await(release);
            }
            default -> {}
        }
        try {
            var body = request.body().read(new Size(1000), Deadline.in(Duration.ofMillis(500)));
            return text(
                    200,
                    "%s %s %s %s"
                            .formatted(
                                    request.method(),
                                    request.path(),
                                    request.query().orElse("-"),
                                    new String(body, UTF_8)));
        } catch (Failure e) {
            return text(e.code() == Code.PAYLOAD_TOO_LARGE ? 413 : 400, e.code().name());
        }
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        return text(refusal.status().orElseThrow(), "refused " + refusal.why().code());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static HttpResponse text(int status, String text) {
        return HttpResponse.of(status, "text/plain", text.getBytes(UTF_8));
    }
}
