package coppice.api.signin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.http.Headers;
import coppice.identity.GivenSignIns;
import coppice.json.JsonObject;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfirmPageTest {
    private static final String ADA = "ada@example.org";
    private static final String RIGHT = GivenSignIns.PASSWORD;
    private static final Headers FORM =
            Headers.of("Content-Type", "application/x-www-form-urlencoded");

    @TempDir private Path directory;
    private SignInServer server;
    private JsonObject codes;
    private String login;

    @BeforeEach
    void open() {
        server = new SignInServer(directory);
        codes = server.begin();
        login = codes.requiredString("login_code");
    }

    @AfterEach
    void close() {
        server.close();
    }

    private String status() {
        return server.poll(codes).requiredString("status");
    }

    /// Fails when it is no page of ours, or not kept to itself.
    private static SignInServer.Answer page(int status, SignInServer.Answer answer) {
        assertEquals(status, answer.status(), answer.text());
        assertEquals("text/html; charset=utf-8", answer.header("Content-Type"));
        assertEquals("no-store", answer.header("Cache-Control"));
        assertEquals("no-referrer", answer.header("Referrer-Policy"));
        assertEquals("nosniff", answer.header("X-Content-Type-Options"));
        assertEquals("DENY", answer.header("X-Frame-Options"));
        var policy = answer.header("Content-Security-Policy");
        for (var rule :
                List.of("default-src 'none'", "frame-ancestors 'none'", "form-action 'self'")) {
            assertTrue(policy.contains(rule), policy);
        }
        assertTrue(answer.text().startsWith("<!doctype html>\n<html lang=\"en\">"), answer.text());
        assertFalse(answer.text().contains("<script"), answer.text());
        return answer;
    }

    @Test
    void itShowsWhatIsConfirmedAndWarnsOfLinksFromOthers() {
        var text = page(200, server.get(SignInServer.PAGE + login)).text();
        assertTrue(text.contains("1 March 2026, 09:30:00 UTC"), text);
        assertTrue(text.contains(SignInServer.ADDRESS), text);
        assertTrue(text.contains("If somebody sent you this link, close the page"), text);
        for (var field : List.of("email", "password")) {
            assertTrue(text.contains("<label for=\"%s\">".formatted(field)), text);
            assertTrue(text.contains("id=\"%s\" name=\"%s\"".formatted(field, field)), text);
        }
        assertTrue(text.contains("<form method=\"post\">"), text);
        assertFalse(text.contains(login), "the code stands in the address only");
    }

    @Test
    void itsStyleIsTheOneThatItsPolicyAllows() throws Exception {
        var page = server.get(SignInServer.PAGE + login);
        var style = page.text().replaceAll("(?s).*<style>(.*)</style>.*", "$1");
        var hash = MessageDigest.getInstance("SHA-256").digest(style.getBytes(UTF_8));
        var allowed = "style-src 'sha256-%s'".formatted(Base64.getEncoder().encodeToString(hash));
        assertTrue(page.header("Content-Security-Policy").contains(allowed), allowed);
    }

    @Test
    void theRightPasswordConfirmsIt() {
        var text = page(200, server.confirm(login, "Ada@Example.org", RIGHT)).text();
        assertTrue(text.contains("You are signed in") && text.contains(ADA), text);
        assertEquals("success", status());
    }

    @Test
    void aWrongPasswordAndAnUnknownUserGetTheSamePageWithWhatTheyTyped() {
        var wrong = page(403, server.confirm(login, ADA, "something else"));
        var unknown = page(403, server.confirm(login, "eve@example.org", "something else"));
        assertTrue(wrong.text().contains("role=\"alert\""), wrong.text());
        assertTrue(wrong.text().contains("value=\"ada@example.org\""), wrong.text());
        assertEquals(wrong.text().replace(ADA, "eve@example.org"), unknown.text());
        assertFalse(wrong.text().contains("something else"), "the password shows");
        assertEquals("pending", status());
        page(200, server.confirm(login, ADA, RIGHT));
    }

    @Test
    void whoeverGuessesIsToldToWait() {
        for (int i = 0; i < 5; i++) {
            page(403, server.confirm(login, ADA, "guess number " + i));
        }
        page(403, server.confirm(login, "bob@example.org", "guess"));
        var early = server.confirm(login, ADA, RIGHT);
        assertEquals("1", page(429, early).header("Retry-After"));
        assertTrue(early.text().contains("try again in 1 s"), early.text());
        assertEquals("pending", status());
        server.given.pass(Duration.ofSeconds(1));
        page(200, server.confirm(login, ADA, RIGHT));
    }

    @Test
    void aSignInThatIsOverOrConfirmedOrNeverWasIsSaidToBeSo() {
        var other = server.begin().requiredString("login_code");
        page(200, server.confirm(other, ADA, RIGHT));
        var polling = codes.requiredString("polling_code");
        for (var code : List.of(other, "", "x", polling, "%27%22%3E%3Cscript%3E")) {
            page(404, server.get(SignInServer.PAGE + code));
            page(404, server.confirm(code, ADA, RIGHT));
        }
        page(404, server.get("/handler/cli-auth-confirm"));
        server.given.pass(Duration.ofMinutes(10));
        page(404, server.get(SignInServer.PAGE + login));
        page(404, server.confirm(login, ADA, RIGHT));
        assertEquals("expired", status());
    }

    @Test
    void whatIsTypedIsShownAsText() {
        for (var email : List.of("\"><script>alert(1)</script>", "'&amp;<b>@example.org")) {
            var page = page(400, server.confirm(login, email, RIGHT));
            assertFalse(page.text().contains(email), page.text());
        }
        var page = page(400, server.confirm(login, "a\"<&'>", RIGHT));
        assertTrue(page.text().contains("value=\"a&quot;&lt;&amp;&#39;&gt;\""), page.text());
    }

    @Test
    void aFormThatIsNoneIsRefusedOnAPage() {
        var path = SignInServer.PAGE + login;
        page(400, server.send("POST", path, FORM, ""));
        page(400, server.send("POST", path, FORM, "email=ada%40example.org"));
        page(400, server.send("POST", path, FORM, "email=ada%40example.org&password="));
        page(400, server.send("POST", path, FORM, "email=%zz&password=x"));
        page(400, server.send("POST", path, FORM, "&&==&=x&email"));
        page(413, server.send("POST", path, FORM, "email=" + "a".repeat(9000)));
        page(415, server.post(path, "{\"email\":\"ada@example.org\",\"password\":\"x\"}"));
        page(415, server.send("POST", path, Headers.none(), "email=a%40b.org&password=x"));
        page(403, server.send("POST", path, FORM, "email=a%40b.org&password=%FF%00"));
        var longer = "x".repeat(4000);
        page(403, server.confirm(login, ADA, longer));
        assertEquals("pending", status());
    }

    @Test
    void aStoreThatIsDownIsToldOnAPage() {
        server.given.store().close();
        var page = page(503, server.get(SignInServer.PAGE + login));
        assertTrue(page.text().contains("role=\"alert\""), page.text());
    }
}
