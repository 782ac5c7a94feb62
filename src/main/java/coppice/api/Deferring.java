package coppice.api;

import coppice.background.Asked;
import coppice.background.BackgroundRequests;
import coppice.background.Origin;
import coppice.background.Resumer;
import coppice.background.Resumption;
import coppice.background.Unfinished;
import coppice.background.Work;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import java.time.Duration;
import java.util.function.Consumer;

/// Has calls go on whose callers do not want to wait for their end.
final class Deferring implements Resumer {
    private final BackgroundRequests requests;
    private final Routes routes;
    private final Background shape;
    private final Answering answers;

    /// What an operation does with a request.
    interface Handled {
        HttpResponse by(HttpRequest request, Consumer<Resumption> resumable);
    }

    /// A call that was checked.
    ///
    /// @param id of the request, for whoever looks for it in the log
    record Deferred(Served served, HttpRequest request, Caller caller, Duration after, String id) {
        Family family() {
            return served.family();
        }
    }

    Deferring(BackgroundRequests requests, Routes routes, Background shape, Answering answers) {
        this.requests = requests;
        this.routes = routes;
        this.shape = shape;
        this.answers = answers;
    }

    /// The answer, or in its place that the call goes on.
    HttpResponse run(Deferred call, Handled handled) {
        var request = call.request;
        var route = call.served.route();
        var body = new ReceivedBody(request.body());
        var detached =
                new HttpRequest(
                        request.method(), request.path(), request.query(), request.headers(), body);
        var asked =
                new Asked(
                        new Origin(call.caller.known(), call.served.operationId(), request.path()),
                        call.after,
                        route.resuming().isPresent(),
                        !(route.description().input() instanceof Input.Bytes));
        return requests.run(
                asked,
                body::whenReceived,
                new CallWork(call, detached, handled),
                id -> shape.running(id, call.family()));
    }

    private final class CallWork implements Work {
        private final Deferred call;
        private final HttpRequest request;
        private final Handled handled;

        CallWork(Deferred call, HttpRequest request, Handled handled) {
            this.call = call;
            this.request = request;
            this.handled = handled;
        }

        @Override
        public HttpResponse run(Consumer<Resumption> resumable) {
            return marked(
                    Answering.answered(
                            call.family(), call.id, () -> handled.by(request, resumable)));
        }

        @Override
        public HttpResponse failed(Throwable why) {
            return marked(Answering.failed(why, call.family(), call.id));
        }

        private HttpResponse marked(HttpResponse answer) {
            return answers.marked(answer, call.family(), request.path());
        }
    }

    /// Goes on with the calls that an earlier server did not end.
    void resume() {
        requests.resume(this);
    }

    @Override
    public HttpResponse resume(Unfinished request, Resumption resumption) {
        var served = routes.named(request.origin().operation());
        var how = served.flatMap(it -> it.route().resuming());
        if (how.isEmpty()) {
            return cutOff(request);
        }
        var family = served.get().family();
        var account = request.origin().caller().account().uuid();
        var answer =
                Answering.answered(
                        family,
                        request.id().text(),
                        () -> how.get().resume(account, resumption.detail()).response());
        return answers.marked(answer, family, request.origin().path());
    }

    @Override
    public HttpResponse cutOff(Unfinished request) {
        var why =
                new Failure(
                        Code.UNAVAILABLE,
                        "the server was restarted meanwhile; look whether it was done, and ask again if not");
        var family =
                routes.named(request.origin().operation()).map(Served::family).orElse(Family.V5);
        return answers.marked(Errors.answer(why, family), family, request.origin().path());
    }
}
