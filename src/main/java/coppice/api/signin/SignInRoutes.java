package coppice.api.signin;

import static coppice.api.Method.POST;

import coppice.api.BrandedHeader;
import coppice.api.Call;
import coppice.api.Credentials;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.identity.Sessions;
import coppice.identity.SignIns;
import coppice.json.JsonWriter;
import java.time.Duration;
import java.util.List;

/// What a program calls that somebody signs in with: it begins a sign-in, polls until it is confirmed on the [ConfirmPage], and gets access
/// tokens from then on.
public final class SignInRoutes {
    private static final String TAG = "Sign-in";
    private static final String REFRESH_TOKEN = "x-stack-refresh-token";

    private final SignIns signIns;
    private final Sessions sessions;
    private final Sources sources;

    public SignInRoutes(SignIns signIns, Sessions sessions, Sources sources) {
        this.signIns = signIns;
        this.sessions = sessions;
        this.sources = sources;
    }

    public List<Route> routes() {
        return List.of(
                Route.open(POST, "/api/v1/auth/cli", "beginSignIn", this::begin)
                        .about(TAG, "Begin a sign-in")
                        .takes(SignInSchemas.BEGIN)
                        .returns(SignInSchemas.BEGUN)
                        .fails(Code.RATE_LIMITED, "20 from the same address are under way"),
                Route.open(POST, "/api/v1/auth/cli/poll", "pollSignIn", this::poll)
                        .about(TAG, "Ask what became of a sign-in")
                        .takes(SignInSchemas.POLL)
                        .returns(SignInSchemas.POLLED),
                Route.open(
                                POST,
                                "/api/v1/auth/sessions/current/refresh",
                                "refreshSignIn",
                                this::refresh)
                        .about(TAG, "Get an access token with the refresh token of a sign-in")
                        .admitsBy(REFRESH_TOKEN)
                        .returns(SignInSchemas.REFRESHED)
                        .fails(Code.MISSING_CREDENTIALS, "no refresh token")
                        .fails(Code.INVALID_CLI_CREDENTIAL, "the sign-in is over, or never was"));
    }

    private Reply begin(Call call) {
        var life =
                call.body()
                        .integer("expires_in_millis")
                        .map(Duration::ofMillis)
                        .orElse(SignIns.USUAL_LIFE);
        if (!life.isPositive()) {
            throw call.body().fault("expires_in_millis", "must be 1 or more");
        }
        var codes = signIns.begin(life, sources.of(call));
        return Reply.ok(
                new JsonWriter()
                        .put("polling_code", codes.polling().reveal())
                        .put("login_code", codes.login().reveal()));
    }

    private Reply poll(Call call) {
        var answer = new JsonWriter();
        return Reply.ok(
                switch (signIns.poll(call.body().requiredString("polling_code"))) {
                    case SignIns.Polled.Pending _ -> answer.put("status", "pending");
                    case SignIns.Polled.Done(var token) ->
                            answer.put("status", "success").put("refresh_token", token.reveal());
                    case SignIns.Polled.Gone _ ->
                            answer.put("status", "expired")
                                    .put(
                                            "error",
                                            "The sign-in was not confirmed in time, or is over; log in again.");
                });
    }

    private Reply refresh(Call call) {
        var token =
                BrandedHeader.single(call.headers(), List.of(REFRESH_TOKEN))
                        .orElseThrow(
                                () -> AccessTokens.missing(REFRESH_TOKEN + ": <refresh token>"));
        return Reply.ok(
                new JsonWriter()
                        .put(
                                "access_token",
                                sessions.refresh(token)
                                        .orElseThrow(Credentials::notSignedIn)
                                        .reveal()));
    }
}
