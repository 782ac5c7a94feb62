package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Kind;
import coppice.base.Secret;
import coppice.http.Headers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// Decides who is calling from the credential headers.
final class Gate {
    private static final Pattern TEAM = Pattern.compile("[A-Za-z0-9_-]{1,128}");

    private final Credentials credentials;
    private final List<String> identityHeaders;
    private final List<String> teamHeaders;

    Gate(Credentials credentials, BrandedHeader headers) {
        this.credentials = credentials;
        this.identityHeaders = headers.names("x-%s-identity-access-token");
        this.teamHeaders = headers.names("x-%s-team-id");
    }

    /// `FORBIDDEN` for an identity where only the account itself may call.
    Caller admit(Served served, Headers headers) {
        var admission = served.route().admission();
        try {
            var caller = caller(headers);
            if (caller.identity().isPresent() && !admission.isForIdentities()) {
                throw new Failure(
                        Code.FORBIDDEN,
                        "an identity access token may not call this; use an API key of the account");
            }
            return caller;
        } catch (Failure e) {
            throw e.code().kind() == Kind.UNAUTHENTICATED ? stranger(e, served) : e;
        }
    }

    /// Whether the same headers would be admitted as the same caller now. When nobody can tell, they still are: a store that is out of
    /// reach takes no right away. An access token of a sign-in that expires takes none away either, while that sign-in lasts.
    boolean stillAdmits(Served served, Headers headers, Caller before) {
        try {
            return before.signedIn().isPresent()
                    ? credentials.isStillMember(before)
                    : admit(served, headers).equals(before);
        } catch (Failure e) {
            return switch (e.code().kind()) {
                case UNAUTHENTICATED, FORBIDDEN -> false;
                default -> true;
            };
        }
    }

    private static Failure stranger(Failure failure, Served served) {
        if (served.family() == Family.LEGACY) {
            var template = served.template().toString();
            var details =
                    Map.<String, Object>of("route", template, "reason", failure.code().name());
            return failure.as(Code.UNAUTHORIZED_ERROR, details);
        }
        return served.route()
                .admission()
                .stranger()
                .map(code -> failure.as(code, Map.of()))
                .orElse(failure);
    }

    private Caller caller(Headers headers) {
        var authorization = BrandedHeader.single(headers, List.of("Authorization"));
        var identity = BrandedHeader.single(headers, identityHeaders);
        if (authorization.isPresent() && identity.isPresent()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "both Authorization and an identity access token are sent; send one of them");
        }
        if (identity.isPresent()) {
            return known(() -> credentials.identity(new Secret(identity.get())));
        }
        var bearer = authorization.flatMap(Gate::bearer).orElseThrow(Gate::missing);
        if (teamHeaders.stream().anyMatch(headers::has)) {
            return member(new Secret(bearer), team(headers));
        }
        return known(() -> credentials.resolve(new Secret(bearer)));
    }

    /// That nobody can tell whose a credential is has a name of its own.
    private static <T> T known(Supplier<T> who) {
        return known(who, Code.KEY_RESOLVER_UNAVAILABLE);
    }

    private static <T> T known(Supplier<T> who, Code unavailable) {
        try {
            return who.get();
        } catch (Failure e) {
            throw e.code() == Code.UNAVAILABLE ? e.as(unavailable, Map.of()) : e;
        }
    }

    private Caller member(Secret accessToken, String team) {
        var who = known(() -> credentials.signedIn(accessToken));
        return known(() -> credentials.member(who, team), Code.CLI_TEAM_RESOLVER_UNAVAILABLE);
    }

    private String team(Headers headers) {
        var teams =
                teamHeaders.stream()
                        .flatMap(name -> headers.all(name).stream())
                        .distinct()
                        .toList();
        if (teams.size() != 1 || !TEAM.matcher(teams.getFirst()).matches()) {
            throw new Failure(
                    Code.INVALID_CLI_TEAM_HEADER,
                    "the team header is not one team's id; send the id, or leave the header out to use an API key");
        }
        return teams.getFirst();
    }

    /// Another scheme is no credential here; "Bearer" with nothing behind it is an API key that cannot be right.
    static Optional<String> bearer(String authorization) {
        var isBearer =
                authorization.regionMatches(true, 0, "Bearer", 0, 6)
                        && (authorization.length() == 6 || authorization.charAt(6) == ' ');
        return isBearer ? Optional.of(authorization.substring(6).strip()) : Optional.empty();
    }

    private static Failure missing() {
        return new Failure(
                Code.MISSING_CREDENTIALS,
                "no credential; send the header Authorization: Bearer <API key>");
    }
}
