package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.RandomText;
import java.util.Optional;
import java.util.regex.Pattern;

/// The public part of an API key, before its dash.
public record ApiKeyId(String text) {
    static final int LENGTH = 20;
    private static final Pattern FORM = Pattern.compile("[a-z0-9]{20}");

    public ApiKeyId {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("not a key id");
        }
    }

    /// Reads what a caller sent as `field`; `BAD_REQUEST` if it is no key id.
    public static ApiKeyId parse(String field, String text) {
        if (!FORM.matcher(text).matches()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be the id of an API key, the 20 characters before its dash"
                            .formatted(field));
        }
        return new ApiKeyId(text);
    }

    /// Reads what a caller named; empty if it is no key id, so that there is no such key.
    public static Optional<ApiKeyId> find(String text) {
        return FORM.matcher(text).matches() ? Optional.of(new ApiKeyId(text)) : Optional.empty();
    }

    static ApiKeyId random() {
        return new ApiKeyId(RandomText.id(""));
    }

    @Override
    public String toString() {
        return text;
    }
}
