package coppice.identity;

import coppice.base.RandomText;
import coppice.base.Secret;
import java.util.Optional;
import java.util.regex.Pattern;

/// A secret of a sign-in with the id by which it is found: `<kind>_<20 of [a-z0-9]>_<43 of [A-Za-z0-9]>`.
///
/// @param kind `srt` of a session's refresh token, `sat` of an access token
record NamedSecret(String kind, String id, Secret secret) {
    private static final Pattern FORM =
            Pattern.compile("(srt|sat)_([a-z0-9]{20})_([A-Za-z0-9]{43})");

    static NamedSecret random(String kind) {
        return new NamedSecret(kind, RandomText.id(""), SecretHash.secret());
    }

    /// Empty when it has not the form of this kind.
    static Optional<NamedSecret> parse(String kind, String text) {
        var found = FORM.matcher(text);
        return found.matches() && found.group(1).equals(kind)
                ? Optional.of(new NamedSecret(kind, found.group(2), new Secret(found.group(3))))
                : Optional.empty();
    }

    Secret whole() {
        return new Secret("%s_%s_%s".formatted(kind, id, secret.reveal()));
    }
}
