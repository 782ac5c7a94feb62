package coppice.api.signin;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Reply;
import coppice.base.Failure;
import coppice.identity.SignIns;
import coppice.identity.Source;
import coppice.identity.User;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;

/// The text of the [ConfirmPage].
final class ConfirmHtml {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("d MMMM uuuu, HH:mm:ss 'UTC'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private static final String STYLE =
            """
            body { font: 1.1rem/1.5 system-ui, sans-serif; margin: 0; color: #1b1b1b; background: #f6f6f4; }
            main { max-width: 28rem; margin: 3rem auto; padding: 2rem; background: #fff; border: 1px solid #ccc; }
            label { display: block; margin-top: 1rem; }
            input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin-top: .25rem; }
            button { margin-top: 1.5rem; color: #fff; background: #1f5130; border: 0; cursor: pointer; }
            :focus-visible { outline: 3px solid #b35900; outline-offset: 2px; }
            [role=alert] { border-left: 4px solid #a40000; padding-left: .75rem; }
            """;

    /// Nothing but this page's own style is loaded, run, framed or sent elsewhere.
    private static final String POLICY =
            "default-src 'none'; style-src 'sha256-%s'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
                    .formatted(hash(STYLE));

    private static final String PAGE =
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>%s</title>
            <style>%s</style>
            </head>
            <body>
            <main>
            <h1>%s</h1>
            %s</main>
            </body>
            </html>
            """;

    private static final String FORM =
            """
            <p>A program asks to act as you. It began to sign in on <strong>%s</strong>%s.</p>
            <p>Confirm this only if you have just begun it yourself. If somebody sent you this link, close the page: whoever did
            would act as you.</p>
            %s<form method="post">
            <label for="email">Email address</label>
            <input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="%s">
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" maxlength="200" required>
            <button type="submit">Confirm the sign-in</button>
            </form>
            """;

    private ConfirmHtml() {}

    static String form(SignIns.Waiting signIn, String email, Optional<Failure> why) {
        var from = signIn.source().map(Source::text).map(" from <strong>%s</strong>"::formatted);
        return page(
                "Confirm a sign-in",
                FORM.formatted(
                        TIME.format(signIn.since()),
                        from.orElse(""),
                        why.map(ConfirmHtml::alert).orElse(""),
                        escaped(email)));
    }

    static String done(User user) {
        return page(
                "You are signed in",
                "<p>The program acts as %s from now on. You can close this page.</p>\n"
                        .formatted(escaped(user.email().text())));
    }

    static String failure(Failure why) {
        return page("This sign-in cannot be confirmed", alert(why));
    }

    /// With the headers that keep the page to itself.
    static Reply guarded(Reply page) {
        return page.with("Content-Security-Policy", POLICY)
                .with("X-Frame-Options", "DENY")
                .with("X-Content-Type-Options", "nosniff")
                .with("Referrer-Policy", "no-referrer")
                .with("Cache-Control", "no-store");
    }

    private static String alert(Failure why) {
        var message = why.getMessage();
        return "<p role=\"alert\">%s.</p>\n"
                .formatted(
                        escaped(
                                message.substring(0, 1).toUpperCase(Locale.ROOT)
                                        + message.substring(1)));
    }

    private static String page(String title, String content) {
        return PAGE.formatted(title, STYLE, title, content);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    private static String hash(String text) {
        try {
            var digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
