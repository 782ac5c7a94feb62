package coppice.identity;

import coppice.base.Secret;
import java.util.Optional;
import java.util.regex.Pattern;

/// A whole API key: `<keyId>-<secret>`, 20 of `[a-z0-9]` and 43 of `[A-Za-z0-9]`.
record KeyText(ApiKeyId id, Secret secret) {
    private static final Pattern FORM = Pattern.compile("[a-z0-9]{20}-[A-Za-z0-9]{43}");

    static KeyText random() {
        return new KeyText(ApiKeyId.random(), SecretHash.secret());
    }

    static Optional<KeyText> parse(String text) {
        return FORM.matcher(text).matches()
                ? Optional.of(
                        new KeyText(
                                new ApiKeyId(text.substring(0, ApiKeyId.LENGTH)),
                                new Secret(text.substring(ApiKeyId.LENGTH + 1))))
                : Optional.empty();
    }

    Secret bearer() {
        return new Secret(id + "-" + secret.reveal());
    }
}
