package coppice.http;

import coppice.base.Code;
import coppice.base.Failure;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Answers what Jetty itself refuses, in the handler's words and never in Jetty's, which quote the request and our insides.
final class JettyErrors implements Request.Handler {
    private final HttpHandler handler;
    private final JettyAnswers answers;

    JettyErrors(HttpHandler handler, JettyAnswers answers) {
        this.answers = answers;
        this.handler = handler;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        var status = response.getStatus();
        answers.write(
                handler.refuse(new Refusal(status, why(status), JettyHandler.path(request))),
                request,
                response,
                callback);
        return true;
    }

    private static Failure why(int status) {
        return switch (status) {
            case 413 -> new Failure(Code.PAYLOAD_TOO_LARGE, "the body is too large; send less");
            case 414 ->
                    new Failure(Code.BAD_REQUEST, "the path and query are too long; shorten them");
            case 431 -> new Failure(Code.BAD_REQUEST, "the header fields are too long; send fewer");
            case 505 ->
                    new Failure(
                            Code.BAD_REQUEST,
                            "this HTTP version is not spoken; use HTTP/1.1 or HTTP/2");
            default ->
                    status < 500 || status == 501
                            ? new Failure(
                                    Code.BAD_REQUEST,
                                    "this is not a valid HTTP request; correct its first line, headers or framing")
                            : new Failure(Code.INTERNAL_ERROR, "the server has a fault");
        };
    }
}
