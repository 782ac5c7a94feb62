package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.http.Handshake;
import coppice.http.Headers;
import coppice.http.HttpHandler;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.http.Refusal;
import coppice.http.ResponseBody;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The API: a handler for an [coppice.http.HttpServer] that serves a list of routes, and beside them `/status` and
/// `/openapi.json`.
///
/// Every answer of an unversioned route, errors included, says that it is deprecated. Every request leaves one log line: a streamed
/// answer when it has ended, with the bytes that were written, a WebSocket when it is opened.
public final class Api implements HttpHandler {
    private static final Logger LOG = LoggerFactory.getLogger(Api.class);
    private static final int MAX_LOGGED_PATH = 300;

    private final ApiSettings settings;
    private final String prefix;
    private final Routes routes;
    private final Gate gate;
    private final BackgroundAfter backgroundAfter;
    private final JsonBody jsonBody;

    public Api(ApiSettings settings, Credentials credentials, List<Route> routes) {
        this.settings = settings;
        this.prefix = settings.pathPrefix();
        var headers = new BrandedHeader(settings.brand());
        this.gate = new Gate(credentials, headers);
        this.backgroundAfter = new BackgroundAfter(headers);
        this.jsonBody = new JsonBody(settings);
        var all = new ArrayList<>(routes);
        all.add(
                Route.open("/status", "status", _ -> Reply.ok(new JsonWriter().put("status", "ok")))
                        .about("Service", "Tell whether the service answers")
                        .returns(OpenApi.STATUS));
        all.add(
                Route.open("/openapi.json", "openApi", _ -> openApi())
                        .about("Service", "This document")
                        .returns(OpenApi.DOCUMENT));
        this.routes = new Routes(all);
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        var started = System.nanoTime();
        var id = RandomText.id("req-");
        var response = routed(request, id);
        if (response.body() instanceof ResponseBody.Stream body) {
            var told = new ToldWriter(body, how -> log(request, response, started, id + how));
            return new HttpResponse(
                    response.status(),
                    response.headers(),
                    new ResponseBody.Stream(body.length(), told));
        }
        log(request, response, started, id);
        return response;
    }

    @Override
    public HttpResponse refuse(Refusal refusal) {
        var family = refusal.path().flatMap(this::local).flatMap(routes::family);
        var status = refusal.status().orElse(Errors.status(refusal.why().code().kind()));
        var answer = Errors.answer(status, refusal.why(), family.orElse(Family.V5));
        var id = RandomText.id("req-");
        log("(refused)", refusal.path().orElse("-"), answer, System.nanoTime(), id);
        return family.isPresent()
                ? marked(answer, family.get(), refusal.path().orElse(""))
                : answer;
    }

    private HttpResponse routed(HttpRequest request, String id) {
        var match =
                local(request.path())
                        .map(path -> routes.match(request.method(), path))
                        .orElseGet(Routes.Match.Unknown::new);
        return switch (match) {
            case Routes.Match.Found found ->
                    marked(called(found, request, id), found.served().family(), request.path());
            case Routes.Match.WrongMethod(Family family, String allowed) ->
                    marked(
                            Errors.answer(wrongMethod(allowed), family)
                                    .with(Headers.of("Allow", allowed)),
                            family,
                            request.path());
            case Routes.Match.Unknown _ -> Errors.answer(unknown(), Family.V5);
        };
    }

    private HttpResponse called(Routes.Match.Found found, HttpRequest request, String id) {
        var family = found.served().family();
        try {
            var call = call(found, request);
            return found.served().route().handler().handle(call).response();
        } catch (Failure e) {
            if (e.code() == Code.INTERNAL_ERROR) {
                LOG.error("request {} failed", id, e);
                return Errors.answer(internal(id), family);
            }
            return Errors.answer(e, family);
        } catch (Throwable e) {
            LOG.error("request {} met a fault of ours", id, e);
            return Errors.answer(internal(id), family);
        }
    }

    /// The checks before the handler, in the contract's order.
    private Call call(Routes.Match.Found found, HttpRequest request) {
        var route = found.served().route();
        var family = found.served().family();
        Optional<Caller> caller =
                family.needsCredential()
                        ? Optional.of(gate.admit(found.served(), request.headers()))
                        : Optional.empty();
        var output = route.description().output();
        var after =
                output.isDeferrable()
                        ? backgroundAfter.read(request.headers())
                        : Optional.<Duration>empty();
        var path = found.pathValues();
        var query = Query.parse(request.query().orElse(""), route.query());
        var body =
                switch (route.description().input()) {
                    case Input.Json json -> jsonBody.read(request, json.schema());
                    case Input.None _, Input.Bytes _ -> JsonObject.empty();
                };
        if (output instanceof Output.Upgrade) {
            Handshake.check(request);
        }
        return new Call(
                caller,
                () -> caller.isEmpty() || isStillAdmitted(found, request, caller.get()),
                family,
                new Call.Arguments(path, query, body),
                after,
                request);
    }

    private boolean isStillAdmitted(Routes.Match.Found found, HttpRequest request, Caller caller) {
        return gate.stillAdmits(found.served(), request.headers(), caller);
    }

    private Reply openApi() {
        return Reply.ok(new OpenApi(settings, routes.all()).document());
    }

    /// The path without the base URL's own, when it starts with that.
    private Optional<String> local(String path) {
        return path.startsWith(prefix + "/")
                ? Optional.of(path.substring(prefix.length()))
                : Optional.empty();
    }

    private HttpResponse marked(HttpResponse answer, Family family, String path) {
        if (!family.isDeprecated()) {
            return answer;
        }
        var successor = Family.V5.prefix() + local(path).orElse("");
        return answer.with(
                Headers.of("Deprecation", "@" + settings.deprecatedSince().getEpochSecond())
                        .and(
                                "Link",
                                "<%s%s>; rel=\"successor-version\""
                                        .formatted(settings.base(), PercentCode.tidy(successor))));
    }

    private static void log(
            HttpRequest request, HttpResponse response, long startedNanos, String id) {
        log(request.method(), request.path(), response, startedNanos, id);
    }

    private static void log(
            String method, String path, HttpResponse response, long startedNanos, String id) {
        var took = Duration.ofNanos(System.nanoTime() - startedNanos);
        var shown = PercentCode.tidy(path);
        LOG.info(
                "{} {} {} {} ms {}",
                PercentCode.tidy(method),
                shown.length() <= MAX_LOGGED_PATH ? shown : shown.substring(0, MAX_LOGGED_PATH),
                response.status(),
                took.toMillis(),
                id);
    }

    private static Failure unknown() {
        return new Failure(
                Code.NOT_FOUND, "there is no such path; /openapi.json lists those there are");
    }

    private static Failure wrongMethod(String allowed) {
        return new Failure(
                Code.METHOD_NOT_ALLOWED, "this path does not have this method; use " + allowed);
    }

    private static Failure internal(String id) {
        return new Failure(
                Code.INTERNAL_ERROR,
                "the server met a fault of its own; report it with the id %s".formatted(id));
    }
}
