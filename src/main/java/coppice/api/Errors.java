package coppice.api;

import coppice.base.Failure;
import coppice.base.Kind;
import coppice.http.Handshake;
import coppice.http.Headers;
import coppice.http.HttpResponse;
import coppice.json.Json;
import java.time.Duration;

/// Failures as HTTP answers.
final class Errors {
    private Errors() {}

    static int status(Kind kind) {
        return switch (kind) {
            case INVALID -> 400;
            case UNAUTHENTICATED -> 401;
            case FORBIDDEN -> 403;
            case ABSENT -> 404;
            case METHOD -> 405;
            case CONFLICT -> 409;
            case GONE -> 410;
            case TOO_LARGE -> 413;
            case UNSUPPORTED_TYPE -> 415;
            case UNSATISFIABLE -> 416;
            case UPGRADE -> 426;
            case BUSY -> 429;
            case INTERNAL -> 500;
            case UNAVAILABLE -> 503;
            case TIMEOUT -> 504;
            case FULL -> 507;
        };
    }

    static HttpResponse answer(Failure failure, Family family) {
        return answer(status(failure.code().kind()), failure, family);
    }

    static HttpResponse answer(int status, Failure failure, Family family) {
        var body = family.errorBody(failure, failure.getMessage());
        var answer = HttpResponse.of(status, Reply.JSON, Json.write(body));
        if (status == 401) {
            answer = answer.with(Headers.of("WWW-Authenticate", "Bearer"));
        }
        if (status == 416 && failure.details().containsKey("size")) {
            var size = failure.details().get("size");
            answer = answer.with(Headers.of("Content-Range", "bytes */" + size));
        }
        if (status == 426) {
            answer =
                    answer.with(
                            Headers.of("Upgrade", "websocket")
                                    .and("Sec-WebSocket-Version", Handshake.VERSION));
        }
        if (failure.retryAfter().isPresent()) {
            answer =
                    answer.with(
                            Headers.of("Retry-After", wholeSeconds(failure.retryAfter().get())));
        }
        return answer;
    }

    /// Rounded up: a caller that comes too early is turned away again.
    static String wholeSeconds(Duration wait) {
        return String.valueOf(Math.max(0, wait.plusNanos(999_999_999).toSeconds()));
    }
}
