package coppice.base;

import java.util.regex.Pattern;

/// The name a user gives to a thing so that paths and people can call it by it: lower-case letters, digits and single dashes
/// between them, at most 63 characters. Whether it is taken, or reserved for its kind of thing, is for that kind to say.
public record Slug(String text) {
    private static final int MAX_LENGTH = 63;
    private static final Pattern FORM = Pattern.compile("[a-z0-9]+(-[a-z0-9]+)*");

    public Slug {
        if (!isSlug(text)) {
            throw new IllegalArgumentException("not a slug: " + text);
        }
    }

    /// Reads what a caller sent as `field`; anything that is no slug is a `BAD_REQUEST` that names the field.
    public static Slug parse(String field, String text) {
        if (!isSlug(text)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be 1 to %d lower-case letters and digits, with single dashes between them"
                            .formatted(field, MAX_LENGTH));
        }
        return new Slug(text);
    }

    private static boolean isSlug(String text) {
        return text.length() <= MAX_LENGTH && FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
