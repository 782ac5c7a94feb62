package coppice.http;

/// Answers requests. Called on a virtual thread of the request's own, many at once; may block.
public interface HttpHandler {

    HttpResponse handle(HttpRequest request);

    /// The answer to a request that does not reach [#handle]: malformed, beyond a limit, or one at which [#handle] threw; and in
    /// place of a streamed one whose writer threw before a byte of it was sent.
    HttpResponse refuse(Refusal refusal);
}
