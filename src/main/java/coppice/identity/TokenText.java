package coppice.identity;

import coppice.base.Secret;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A whole identity access token: `sit_<id>_<secret>`, a UUID without its dashes and 43 of `[A-Za-z0-9]`. It serves as a login name of
/// SSH through a shell, so nothing in it means anything to one.
record TokenText(UUID id, Secret secret) {
    private static final Pattern FORM =
            Pattern.compile(
                    "sit_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9]{43})");

    static TokenText random() {
        return new TokenText(UUID.randomUUID(), SecretHash.secret());
    }

    static Optional<TokenText> parse(String text) {
        return Optional.of(FORM.matcher(text)).filter(Matcher::matches).map(TokenText::of);
    }

    private static TokenText of(Matcher found) {
        var id =
                String.join(
                        "-",
                        found.group(1),
                        found.group(2),
                        found.group(3),
                        found.group(4),
                        found.group(5));
        return new TokenText(UUID.fromString(id), new Secret(found.group(6)));
    }

    Secret whole() {
        return new Secret("sit_%s_%s".formatted(id.toString().replace("-", ""), secret.reveal()));
    }
}
