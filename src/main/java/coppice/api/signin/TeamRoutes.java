package coppice.api.signin;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Actor;
import coppice.api.BrandedHeader;
import coppice.api.Call;
import coppice.api.Credentials;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.identity.ApiKey;
import coppice.identity.ApiKeyId;
import coppice.identity.ApiKeys;
import coppice.identity.Sessions;
import coppice.identity.SignedIn;
import coppice.identity.Team;
import coppice.identity.Teams;
import coppice.identity.User;
import coppice.identity.Users;
import coppice.json.Json;
import coppice.json.JsonWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// What somebody who is signed in may ask beside the API itself: which teams it is in, and the API keys of their accounts. An API key does
/// not do here: a key must not make keys.
public final class TeamRoutes {
    private static final String TAG = "Sign-in";
    private static final String KEYS = "/api/accounts/{account_id}/tokens";
    private static final String AUTH = "x-stack-auth";

    private final Users users;
    private final Teams teams;
    private final ApiKeys keys;
    private final AccessTokens tokens;

    public TeamRoutes(Users users, Teams teams, ApiKeys keys, Sessions sessions) {
        this.users = users;
        this.teams = teams;
        this.keys = keys;
        this.tokens = new AccessTokens(sessions);
    }

    public List<Route> routes() {
        return List.of(
                stranger(Route.open(GET, "/api/cli/teams", "listTeams", this::list))
                        .about(TAG, "List the teams of whoever is signed in")
                        .admitsBy("Authorization")
                        .returns(SignInSchemas.TEAMS),
                stranger(Route.open(POST, KEYS, "createApiKey", this::create))
                        .about(TAG, "Make an API key of an account, which is shown only now")
                        .admitsBy(AUTH)
                        .takes(SignInSchemas.CREATE_KEY)
                        .returns(SignInSchemas.NEW_KEY)
                        .fails(Code.CONFLICT, "the account has 100 keys"),
                stranger(Route.open(GET, KEYS, "listApiKeys", this::listKeys))
                        .about(TAG, "List the API keys of an account, newest first")
                        .admitsBy(AUTH)
                        .returns(SignInSchemas.KEYS),
                stranger(Route.open(DELETE, KEYS + "/{key_id}", "revokeApiKey", this::revoke))
                        .about(TAG, "Revoke an API key, at once")
                        .admitsBy(AUTH));
    }

    private static Route stranger(Route route) {
        return route.fails(Code.MISSING_CREDENTIALS, "no access token")
                .fails(Code.INVALID_CLI_CREDENTIAL, "the access token is unknown or expired")
                .fails(Code.KEY_RESOLVER_UNAVAILABLE, "nobody can tell whose the token is")
                .fails(Code.CLI_TEAM_RESOLVER_UNAVAILABLE, "nobody can tell whose the team is");
    }

    private Reply list(Call call) {
        var token =
                call.bearer()
                        .orElseThrow(
                                () -> AccessTokens.missing("Authorization: Bearer <access token>"));
        var who = tokens.require(token);
        var user = resolved(() -> users.find(who.user())).orElseThrow(Credentials::notSignedIn);
        var all = resolved(() -> teams.of(who.user()));
        return Reply.ok(
                new JsonWriter()
                        .put("user", json(user))
                        .putOrNull(
                                "defaultTeamId",
                                only(all).map(team -> team.account().id().toString()))
                        .put("teams", all.stream().map(TeamRoutes::json).toList()));
    }

    /// Among several, nobody has said which one it wants: the program knows which one it was.
    private static Optional<Team> only(List<Team> all) {
        return all.size() == 1 ? Optional.of(all.getFirst()) : Optional.empty();
    }

    private Reply create(Call call) {
        var who = who(call);
        var team = team(call, who);
        var account = team.account();
        var made = keys.create(account.id(), call.body().requiredString("name"), who.user());
        return Reply.ok(
                new JsonWriter()
                        .put("token", made.bearer().reveal())
                        .put("accountId", account.id().uuid())
                        .put("accountName", account.name())
                        .put("teamId", account.id().uuid())
                        .put("teamName", account.name()));
    }

    private Reply listKeys(Call call) {
        var account = team(call, who(call)).account().id();
        var all = keys.list(account).stream().filter(key -> key.revokedAt().isEmpty());
        return Reply.ok(new JsonWriter().put("tokens", all.map(TeamRoutes::json).toList()));
    }

    private Reply revoke(Call call) {
        var account = team(call, who(call)).account().id();
        var id = call.path("key_id");
        keys.revoke(account, ApiKeyId.find(id).orElseThrow(() -> noKey(account)));
        return Reply.noContent();
    }

    private static Failure noKey(AccountId account) {
        return new Failure(
                Code.NOT_FOUND, "account %s has no API key with this id".formatted(account));
    }

    /// Whatever does not hold an access token is none.
    private SignedIn who(Call call) {
        var sent =
                BrandedHeader.single(call.headers(), List.of(AUTH))
                        .orElseThrow(
                                () ->
                                        AccessTokens.missing(
                                                AUTH + ": {\"accessToken\": \"<access token>\"}"));
        try {
            return tokens.require(
                    Json.parse(sent.getBytes(UTF_8)).string("accessToken").orElse(""));
        } catch (Failure e) {
            throw e.code() == Code.BAD_REQUEST ? Credentials.notSignedIn() : e;
        }
    }

    /// The team that the path names, which is as absent as one that never was for whoever is not in it.
    private Team team(Call call, SignedIn who) {
        var team =
                resolved(() -> teams.find(who.user(), call.path("account_id")))
                        .orElseThrow(
                                () ->
                                        new Failure(
                                                Code.NOT_FOUND,
                                                "you are in no team with this account id; ask for your teams again"));
        call.madeBy(Actor.of(who, team.account().id().uuid()));
        return team;
    }

    private static <T> T resolved(Supplier<T> question) {
        try {
            return question.get();
        } catch (Failure e) {
            throw e.code() == Code.UNAVAILABLE
                    ? e.as(Code.CLI_TEAM_RESOLVER_UNAVAILABLE, Map.of())
                    : e;
        }
    }

    private static JsonWriter json(User user) {
        return new JsonWriter()
                .put("id", user.id().uuid())
                .put("email", user.email().text())
                .putOrNull("displayName", user.name());
    }

    private static JsonWriter json(Team team) {
        return new JsonWriter()
                .put("teamId", team.account().id().uuid())
                .put("accountId", team.account().id().uuid())
                .put("name", team.account().name())
                .put("role", team.role().word());
    }

    private static JsonWriter json(ApiKey key) {
        return new JsonWriter()
                .put("keyId", key.id().text())
                .put("name", key.name())
                .put("createdAt", key.createdAt().toEpochMilli());
    }
}
