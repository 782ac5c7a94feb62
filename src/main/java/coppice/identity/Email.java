package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Locale;
import java.util.regex.Pattern;

/// The address by which a user signs in: lower-case ASCII, since upper and lower case are the same here. Nothing is ever sent to it.
public record Email(String text) {
    private static final int MAX_LENGTH = 254;
    private static final Pattern FORM =
            Pattern.compile("[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9]([a-z0-9.-]*[a-z0-9])?");

    public Email {
        if (!isEmail(text)) {
            throw new IllegalArgumentException("not an email address");
        }
    }

    /// Reads what somebody gave as `field`; `BAD_REQUEST` if it is no email address.
    public static Email parse(String field, String text) {
        var email = text.strip().toLowerCase(Locale.ROOT);
        if (!isEmail(email)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be an email address such as ada@example.org".formatted(field));
        }
        return new Email(email);
    }

    private static boolean isEmail(String text) {
        return text.length() <= MAX_LENGTH && FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
