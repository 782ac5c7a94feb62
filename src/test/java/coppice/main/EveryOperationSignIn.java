package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

/// Calls every operation by which people sign in.
///
/// @param nobody who has no credential
/// @param email of a user that is in one team
record EveryOperationSignIn(EveryOperationCaller nobody, String email, String password) {
    private static final String PAGE = "/handler/cli-auth-confirm?login_code=";
    private static final String BEGIN = "POST /api/v1/auth/cli";
    private static final String POLL = "POST /api/v1/auth/cli/poll";
    private static final String REFRESH = "POST /api/v1/auth/sessions/current/refresh";

    void walk() {
        nobody.refused(400, "BAD_REQUEST", BEGIN, "{\"expires_in_millis\":0}");
        nobody.refused(400, "BAD_REQUEST", POLL, "{}");
        nobody.refused(400, "BAD_REQUEST", REFRESH, "[]");
        nobody.refused(401, "MISSING_CREDENTIALS", REFRESH, "{}");
        nobody.done(POLL, "{\"polling_code\":\"never-was\"}");
        var codes = nobody.done(BEGIN, "{\"expires_in_millis\":60000}");
        var poll = "{\"polling_code\":\"%s\"}".formatted(codes.text("polling_code"));
        assertEquals("pending", nobody.done(POLL, poll).text("status"));
        confirm(PAGE + codes.text("login_code"));
        var refreshToken = nobody.done(POLL, poll).text("refresh_token");
        var session = nobody.with("x-stack-refresh-token", refreshToken);
        var token = session.done(REFRESH, "{}").text("access_token");
        keys(team(nobody.withKey(token)), token);
    }

    private void confirm(String page) {
        var browser = nobody.with("Content-Type", "application/x-www-form-urlencoded");
        page(404, nobody, "GET " + PAGE + "never-was", "");
        page(404, browser, "POST " + PAGE + "never-was", "");
        page(200, nobody, "GET " + page, "");
        page(415, nobody, "POST " + page, "{}");
        page(413, browser, "POST " + page, "x".repeat(10_000));
        page(400, browser, "POST " + page, "");
        page(403, browser, "POST " + page, "email=nobody%40example.org&password=wrong");
        page(200, browser, "POST " + page, "email=" + email + "&password=" + password);
    }

    private static void page(int status, EveryOperationCaller by, String call, String form) {
        var answer = by.answer(call, form.getBytes(UTF_8));
        assertEquals(
                status + " text/html", answer.status() + " " + answer.type(), answer::toString);
    }

    private String team(EveryOperationCaller member) {
        nobody.refused(401, "MISSING_CREDENTIALS", "GET /api/cli/teams");
        return member.done("GET /api/cli/teams").text("defaultTeamId");
    }

    private void keys(String account, String token) {
        var keys = "/api/accounts/" + account + "/tokens";
        var member = nobody.with("x-stack-auth", "{\"accessToken\":\"%s\"}".formatted(token));
        nobody.refused(401, "MISSING_CREDENTIALS", "GET " + keys);
        member.refused(400, "BAD_REQUEST", "POST " + keys, "{}");
        member.refused(404, "NOT_FOUND", "GET /api/accounts/never-was/tokens");
        var key = member.done("POST " + keys, "{\"name\":\"laptop\"}").text("token");
        member.done("GET " + keys);
        var one = keys + "/" + key.substring(0, key.indexOf('-'));
        member.done("DELETE " + one);
        member.refused(404, "NOT_FOUND", "DELETE " + keys + "/never-was");
    }
}
