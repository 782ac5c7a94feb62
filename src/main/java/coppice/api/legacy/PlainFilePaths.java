package coppice.api.legacy;

import coppice.http.HttpHandler;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.Refusal;
import java.net.URI;
import java.util.regex.Pattern;

/// Takes the plain path of a legacy file, `/v1/vms/{vm_id}/files/a/b`, for the encoded one, `a%2Fb`: in a route a parameter is one segment.
/// What begins with a slash, and so has two of them, is absolute. A slash at the end makes no difference, as everywhere.
public final class PlainFilePaths implements HttpHandler {
    private final HttpHandler api;
    private final Pattern plain;

    /// @param baseUrl where clients reach the API; may have a path
    public PlainFilePaths(HttpHandler api, URI baseUrl) {
        this.api = api;
        var prefix = baseUrl.getRawPath() == null ? "" : baseUrl.getRawPath().replaceAll("/+$", "");
        this.plain =
                Pattern.compile(
                        "(" + Pattern.quote(prefix) + "/v1/vms/[^/]+/files/)(.+?)(/?)",
                        Pattern.DOTALL);
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        return api.handle(
                new HttpRequest(
                        request.method(),
                        encoded(request.path()),
                        request.query(),
                        request.headers(),
                        request.body()));
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        return api.refuse(
                new Refusal(refusal.status(), refusal.why(), refusal.path().map(this::encoded)));
    }

    private String encoded(String path) {
        var found = plain.matcher(path);
        return found.matches()
                ? found.group(1) + found.group(2).replace("/", "%2F") + found.group(3)
                : path;
    }
}
