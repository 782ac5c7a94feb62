package coppice.background;

import coppice.base.RandomText;
import java.util.Optional;
import java.util.regex.Pattern;

/// The id of a background request: `bg-` and 20 characters of `[a-z0-9]`.
public record BackgroundId(String text) {
    private static final Pattern FORM = Pattern.compile("bg-[a-z0-9]{20}");

    public BackgroundId {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("no id of a background request: " + text);
        }
    }

    static BackgroundId random() {
        return new BackgroundId(RandomText.id("bg-"));
    }

    /// Empty for a text that cannot be one.
    public static Optional<BackgroundId> parse(String text) {
        return FORM.matcher(text).matches()
                ? Optional.of(new BackgroundId(text))
                : Optional.empty();
    }

    @Override
    public String toString() {
        return text;
    }
}
