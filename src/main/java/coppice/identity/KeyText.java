package coppice.identity;

import coppice.base.Secret;
import java.util.Optional;

/// A whole API key: `<keyId>-<secret>`, 20 of `[a-z0-9]` and 43 of `[A-Za-z0-9]`.
record KeyText(ApiKeyId id, Secret secret) {
    private static final int LENGTH = ApiKeyId.LENGTH + 1 + SecretHash.SECRET_LENGTH;

    static KeyText random() {
        return new KeyText(ApiKeyId.random(), SecretHash.secret());
    }

    static Optional<KeyText> parse(String text) {
        return isKey(text)
                ? Optional.of(
                        new KeyText(
                                new ApiKeyId(text.substring(0, ApiKeyId.LENGTH)),
                                new Secret(text.substring(ApiKeyId.LENGTH + 1))))
                : Optional.empty();
    }

    /// Without a pattern: every call comes by here.
    private static boolean isKey(String text) {
        if (text.length() != LENGTH || text.charAt(ApiKeyId.LENGTH) != '-') {
            return false;
        }
        for (int i = 0; i < LENGTH; i++) {
            char c = text.charAt(i);
            boolean isOfIds = c >= 'a' && c <= 'z' || c >= '0' && c <= '9';
            boolean isCapital = c >= 'A' && c <= 'Z';
            if (i != ApiKeyId.LENGTH && !isOfIds && !(isCapital && i > ApiKeyId.LENGTH)) {
                return false;
            }
        }
        return true;
    }

    Secret bearer() {
        return new Secret(id + "-" + secret.reveal());
    }
}
