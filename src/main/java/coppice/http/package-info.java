/// HTTP/1.1 and HTTP/2 on one address, in clear text or over TLS, behind types of ours: what arrives is an
/// [coppice.http.HttpRequest], what a [coppice.http.HttpHandler] returns is an [coppice.http.HttpResponse], and Jetty is seen by this
/// package only.
///
/// Every handler call has its own virtual thread and may block. Paths are handed over as they were sent, undecoded, because
/// routing comes before decoding. Every limit is named in [coppice.http.HttpLimits]. What never reaches the handler, such as
/// malformed requests, is still answered in the handler's words ([coppice.http.HttpHandler#refuse]). A request may become a
/// [coppice.http.WebSocket]. WebSockets stay on HTTP/1.1. Start with [coppice.http.HttpServer].
package coppice.http;
