package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.net.URLEncoder;
import java.util.Map;

/// What a program and somebody with a browser do to sign in, with an installation that has no key of theirs.
record SignInSteps(Client nobody) {
    private static final String PAGE = "/handler/cli-auth-confirm?login_code=";

    JsonObject begin() {
        return nobody.post("/api/v1/auth/cli", "{\"expires_in_millis\":600000}").expect(200);
    }

    Client.Answer confirm(JsonObject codes, String email, String password) {
        var form =
                "email=%s&password=%s"
                        .formatted(
                                URLEncoder.encode(email, UTF_8),
                                URLEncoder.encode(password, UTF_8));
        return nobody.send(
                "POST",
                PAGE + codes.requiredString("login_code"),
                form.getBytes(UTF_8),
                Map.of("Content-Type", "application/x-www-form-urlencoded"));
    }

    JsonObject poll(JsonObject codes) {
        var body = new JsonWriter().put("polling_code", codes.requiredString("polling_code"));
        return nobody.send("POST", "/api/v1/auth/cli/poll", Json.write(body)).expect(200);
    }

    Client.Answer refresh(String refreshToken) {
        return nobody.send(
                "POST",
                "/api/v1/auth/sessions/current/refresh",
                "{}".getBytes(UTF_8),
                Map.of("x-stack-refresh-token", refreshToken));
    }

    /// The refresh token of one who signs in.
    String signIn(String email, String password) {
        var codes = begin();
        confirm(codes, email, password).expect(200);
        return poll(codes).requiredString("refresh_token");
    }

    String accessToken(String refreshToken) {
        return refresh(refreshToken).expect(200).requiredString("access_token");
    }
}
