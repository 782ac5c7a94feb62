package coppice.api;

import static coppice.json.Presence.ALWAYS;

import coppice.background.BackgroundId;
import coppice.background.BackgroundRequests;
import coppice.background.Found;
import coppice.background.Resumption;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.HttpResponse;
import coppice.identity.AccountId;
import coppice.identity.IdentityId;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// The poll of background requests, and a call that takes as long as one wants, to try them.
public final class BackgroundRoutes {
    private static final int MAX_SLEEP = 300;
    private static final int MAX_MESSAGE = 1000;

    private static final Schema.ObjectOf TRIED =
            Schema.object("BackgroundTest")
                    .field("ok", Schema.bool(), ALWAYS, "")
                    .field("message", Schema.string(), ALWAYS, "As it was sent.")
                    .field("sleptSecs", Schema.integer(), ALWAYS, "")
                    .field("finishedAt", Schema.time(), ALWAYS, "");

    private final BackgroundRequests requests;
    private final VmRights rights;
    private final Background shape;

    /// @param brand the word inside header names
    public BackgroundRoutes(BackgroundRequests requests, VmRights rights, String brand) {
        this.requests = requests;
        this.rights = rights;
        this.shape = new Background(new BrandedHeader(brand));
    }

    public List<Route> routes() {
        return List.of(
                described(
                        Route.v5(
                                Method.GET,
                                Background.PATH + "{requestId}",
                                "pollBackgroundRequest",
                                call -> poll(call, "requestId")),
                        "Background"),
                described(
                        Route.legacy(
                                Method.GET,
                                Background.LEGACY_PATH + "{request_id}",
                                "legacyPollBackgroundRequest",
                                call -> poll(call, "request_id")),
                        "Legacy"),
                Route.legacy(
                                Method.GET,
                                "/auth/v1/background-test",
                                "legacyBackgroundTest",
                                BackgroundRoutes::sleep)
                        .about("Legacy", "Sleep, to try a background request")
                        .query("sleepSecs", Schema.integer(0, MAX_SLEEP), "0 by default.")
                        .query("message", Schema.string(), "`ok` by default.")
                        .returns(TRIED));
    }

    private static Route described(Route route, String tag) {
        return route.about(tag, "Ask for the answer of a request that goes on in the background")
                .returns(new Output.Replay())
                .fails(Code.NOT_FOUND, "unknown, or over for more than ten minutes")
                .fails(Code.BACKGROUND_RESULT_UNSTORABLE, "the answer was too large to keep")
                .forIdentities();
    }

    private Reply poll(Call call, String parameter) {
        var account = new AccountId(call.caller().account());
        var found =
                BackgroundId.parse(call.path(parameter))
                        .flatMap(id -> requests.find(account, id))
                        .filter(request -> maySee(call.caller(), request))
                        .orElseThrow(BackgroundRoutes::absent);
        return switch (found.state()) {
            case Found.State.Running _ -> reply(shape.running(found.id(), call.family()));
            case Found.State.Finished(var answer) -> reply(shape.named(answer, found.id()));
            case Found.State.Unstorable _ ->
                    reply(shape.named(Errors.answer(unstorable(), call.family()), found.id()));
        };
    }

    private static Reply reply(HttpResponse answer) {
        return new Reply(answer.status(), answer.headers(), answer.body());
    }

    /// An identity sees the commands that it started itself, for as long as it may still act as whom they run.
    private boolean maySee(Caller caller, Found found) {
        if (caller.identity().isEmpty()) {
            return true;
        }
        var starter = found.origin().caller().identity().map(IdentityId::uuid);
        return starter.equals(caller.identity())
                && found.resumption().filter(command -> mayAct(caller, command)).isPresent();
    }

    private boolean mayAct(Caller caller, Resumption command) {
        var users = rights.require(caller, command.vm(), BackgroundRoutes::absent);
        return command.linuxUser().map(users::includes).orElse(users.names().isEmpty());
    }

    private static Failure absent() {
        return new Failure(
                Code.NOT_FOUND,
                "there is no such background request; its answer is kept for ten minutes");
    }

    private static Failure unstorable() {
        return new Failure(
                Code.BACKGROUND_RESULT_UNSTORABLE,
                "the answer was too large to keep; ask again without the header that defers the call");
    }

    private static Reply sleep(Call call) {
        long seconds = call.query().integer("sleepSecs").orElse(0L);
        var message = call.query().text("message").orElse("ok");
        if (seconds < 0 || seconds > MAX_SLEEP) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "query parameter sleepSecs must be 0 to %d".formatted(MAX_SLEEP));
        }
        if (message.length() > MAX_MESSAGE) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "query parameter message must have at most %d characters"
                            .formatted(MAX_MESSAGE));
        }
        try {
            Thread.sleep(Duration.ofSeconds(seconds));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "the server is stopping; try again", e);
        }
        return Reply.ok(
                new JsonWriter()
                        .put("ok", true)
                        .put("message", message)
                        .put("sleptSecs", seconds)
                        .put("finishedAt", Instant.now()));
    }
}
