package coppice.api;

import coppice.audit.AuditEntry;
import coppice.background.BackgroundRequests;
import coppice.background.Resumption;
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
import coppice.idempotency.IdempotencyKeys;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// The API: a handler for an [coppice.http.HttpServer] that serves a list of routes, and beside them `/status` and
/// `/openapi.json`.
///
/// Every answer of an unversioned route, errors included, says that it is deprecated. Every request leaves one line in the access log: a
/// streamed answer when it has ended, with the bytes that were written, a WebSocket when it is opened.
public final class Api implements HttpHandler {
    private static final int MAX_LOGGED_PATH = 300;
    private static final Pattern OLD = Pattern.compile("/((?!api/)[a-z]+/)?v1/");

    /// By which an answer is found in the log.
    static final String REQUEST_ID = "X-Request-Id";

    private final ApiSettings settings;
    private final Answering answers;
    private final Routes routes;
    private final Gate gate;
    private final BackgroundAfter backgroundAfter;
    private final JsonBody jsonBody;
    private final CrossOrigin crossOrigin;
    private final Optional<RateLimit> rateLimit;
    private final Optional<Deferring> deferring;
    private final Optional<OnceOnly> onceOnly;
    private final Consumer<AuditEntry> audit;
    private final Consumer<String> access;

    /// One that has callers wait, however long it takes.
    public Api(ApiSettings settings, Credentials credentials, List<Route> routes) {
        this(settings, credentials, routes, Lasting.NONE);
    }

    /// What outlives a call.
    ///
    /// @param background has calls go on that their callers do not want to wait for
    /// @param idempotency has creates done once
    /// @param audit told of each call that an admitted caller makes to change something
    /// @param access told a line for each request
    public record Lasting(
            Optional<BackgroundRequests> background,
            Optional<IdempotencyKeys> idempotency,
            Consumer<AuditEntry> audit,
            Consumer<String> access) {
        public static final Lasting NONE = new Lasting(Optional.empty(), Optional.empty());

        /// One that tells nobody.
        public Lasting(
                Optional<BackgroundRequests> background, Optional<IdempotencyKeys> idempotency) {
            this(background, idempotency, _ -> {}, _ -> {});
        }
    }

    public Api(ApiSettings settings, Credentials credentials, List<Route> routes, Lasting lasting) {
        this.audit = lasting.audit;
        this.access = lasting.access;
        this.onceOnly = lasting.idempotency.map(OnceOnly::new);
        this.settings = settings;
        this.answers = new Answering(settings);
        var headers = new BrandedHeader(settings.brand());
        this.gate = new Gate(credentials, headers);
        this.backgroundAfter = new BackgroundAfter(headers);
        this.jsonBody = new JsonBody(settings);
        this.crossOrigin = new CrossOrigin(settings.origins(), headers);
        this.rateLimit = settings.rate().map(rate -> new RateLimit(rate, System::nanoTime));
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
        this.deferring =
                lasting.background.map(
                        requests ->
                                new Deferring(
                                        requests, this.routes, new Background(headers), answers));
    }

    /// Goes on with the calls that an earlier server did not end.
    public void resume() {
        deferring.ifPresent(Deferring::resume);
    }

    @Override
    public HttpResponse handle(HttpRequest request) {
        var started = System.nanoTime();
        var id = RandomText.mark("req-");
        var response =
                crossOrigin.readable(request, routed(request, id)).with(Headers.of(REQUEST_ID, id));
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
        var family = refusal.path().flatMap(answers::local).flatMap(routes::family);
        var status = refusal.status().orElse(Errors.status(refusal.why().code().kind()));
        var answer = Errors.answer(status, refusal.why(), family.orElse(Family.V5));
        var id = RandomText.mark("req-");
        log("(refused)", refusal.path().orElse("-"), answer, System.nanoTime(), id);
        var named = answer.with(Headers.of(REQUEST_ID, id));
        return family.isPresent()
                ? answers.marked(named, family.get(), refusal.path().orElse(""))
                : named;
    }

    private HttpResponse routed(HttpRequest request, String id) {
        var match =
                answers.local(request.path())
                        .map(path -> routes.match(request.method(), path))
                        .orElseGet(Routes.Match.Unknown::new);
        return switch (match) {
            case Routes.Match.Found found ->
                    answers.marked(
                            called(found, request, id), found.served().family(), request.path());
            case Routes.Match.WrongMethod(_, String allowed)
                    when CrossOrigin.isPreflight(request) ->
                    crossOrigin.preflight(request, allowed);
            case Routes.Match.WrongMethod(Family family, String allowed) ->
                    answers.marked(
                            Errors.answer(wrongMethod(allowed), family)
                                    .with(Headers.of("Allow", allowed)),
                            family,
                            request.path());
            case Routes.Match.Unknown _ -> Errors.answer(unknown(), familyOf(request.path()));
        };
    }

    private HttpResponse called(Routes.Match.Found found, HttpRequest request, String id) {
        var served = found.served();
        var actor = new AtomicReference<Optional<Actor>>(Optional.empty());
        var answer = called(found, request, id, actor);
        if (isChange(served.route())) {
            actor.get().map(who -> entry(served, who, request, answer, id)).ifPresent(audit);
        }
        return answer;
    }

    /// A terminal is asked for by GET, and is typed into.
    private static boolean isChange(Route route) {
        return route.method() != Method.GET
                || route.description().output() instanceof Output.Upgrade;
    }

    private static AuditEntry entry(
            Served served, Actor who, HttpRequest request, HttpResponse answer, String id) {
        return new AuditEntry(
                Instant.now(),
                Optional.of(id),
                who.account(),
                who.identity(),
                who.user(),
                who.credential(),
                served.operationId(),
                shown(request.path()),
                OptionalInt.of(answer.status()));
    }

    private HttpResponse called(
            Routes.Match.Found found,
            HttpRequest request,
            String id,
            AtomicReference<Optional<Actor>> actor) {
        var served = found.served();
        return Answering.answered(
                served.family(),
                id,
                () -> {
                    var checked = checked(found, request, who -> actor.set(Optional.of(who)));
                    if (!isDeferred(checked)) {
                        return handled(found, request, checked, _ -> {});
                    }
                    var caller = checked.caller().orElseThrow();
                    var after = checked.after().orElseThrow();
                    return deferring
                            .orElseThrow()
                            .run(
                                    new Deferring.Deferred(served, request, caller, after, id),
                                    (whole, resumable) ->
                                            handled(found, whole, checked, resumable));
                });
    }

    private boolean isDeferred(Checked checked) {
        return checked.after().isPresent() && deferring.isPresent();
    }

    private HttpResponse handled(
            Routes.Match.Found found,
            HttpRequest request,
            Checked checked,
            Consumer<Resumption> resumable) {
        // A terminal keeps this for as long as it is open: the headers, and nothing else of the
        // request.
        var served = found.served();
        var headers = request.headers();
        var call =
                new Call(
                        checked.caller(),
                        () -> isStillAdmitted(served, headers, checked.caller()),
                        served.family(),
                        checked.arguments(),
                        isDeferred(checked),
                        resumable,
                        checked.actor(),
                        request);
        var route = served.route();
        Supplier<HttpResponse> work = () -> route.handler().handle(call).response();
        if (onceOnly.isEmpty() || checked.caller().isEmpty()) {
            return work.get();
        }
        return onceOnly.get()
                .run(route, checked.caller().get(), request, checked.arguments(), work);
    }

    /// What was found out about a request before its handler is called.
    private record Checked(
            Optional<Caller> caller,
            Optional<Duration> after,
            Call.Arguments arguments,
            Consumer<Actor> actor) {}

    /// The checks before the handler, in the contract's order.
    private Checked checked(Routes.Match.Found found, HttpRequest request, Consumer<Actor> actor) {
        var route = found.served().route();
        var family = found.served().family();
        Optional<Caller> caller =
                family.needsCredential()
                        ? Optional.of(gate.admit(found.served(), request.headers()))
                        : Optional.empty();
        var output = route.description().output();
        caller.map(Actor::of).ifPresent(actor);
        if (!(output instanceof Output.Replay)) {
            caller.ifPresent(it -> rateLimit.ifPresent(limit -> limit.take(it.account())));
        }
        boolean isDeferrable =
                caller.filter(it -> route.isDeferrable(it.identity().isPresent())).isPresent();
        var after =
                isDeferrable ? backgroundAfter.read(request.headers()) : Optional.<Duration>empty();
        var path = found.pathValues();
        var query = Query.parse(request.query().orElse(""), route.query());
        var limit = family.needsCredential() ? settings.maxJson() : JsonBody.SMALL;
        var body =
                switch (route.description().input()) {
                    case Input.Json json -> jsonBody.read(request, json.schema(), limit);
                    case Input.None _, Input.Form _, Input.Bytes _ -> JsonObject.empty();
                };
        if (output instanceof Output.Upgrade) {
            Handshake.check(request);
        }
        return new Checked(caller, after, new Call.Arguments(path, query, body), actor);
    }

    private boolean isStillAdmitted(Served served, Headers headers, Optional<Caller> caller) {
        return caller.map(it -> gate.stillAdmits(served, headers, it)).orElse(true);
    }

    private Reply openApi() {
        return Reply.ok(new OpenApi(settings, routes.all()).document());
    }

    private void log(HttpRequest request, HttpResponse response, long startedNanos, String id) {
        log(request.method(), request.path(), response, startedNanos, id);
    }

    private void log(
            String method, String path, HttpResponse response, long startedNanos, String id) {
        var took = Duration.ofNanos(System.nanoTime() - startedNanos);
        access.accept(
                PercentCode.tidy(method)
                        + (" " + shown(path) + " " + response.status())
                        + (" " + took.toMillis() + " ms " + id));
    }

    private static String shown(String path) {
        var shown = PercentCode.tidy(path);
        return shown.length() <= MAX_LOGGED_PATH ? shown : shown.substring(0, MAX_LOGGED_PATH);
    }

    /// Of a path that there is not: what looks like one of the old ones is answered like those.
    private Family familyOf(String path) {
        var isOld = answers.local(path).filter(it -> OLD.matcher(it).lookingAt()).isPresent();
        return isOld ? Family.LEGACY : Family.V5;
    }

    private static Failure unknown() {
        return new Failure(
                Code.NOT_FOUND, "there is no such path; /openapi.json lists those there are");
    }

    private static Failure wrongMethod(String allowed) {
        return new Failure(
                Code.METHOD_NOT_ALLOWED, "this path does not have this method; use " + allowed);
    }
}
