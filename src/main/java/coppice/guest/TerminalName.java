package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.regex.Pattern;

/// What a session of a guest is called: by its number, or by a slug that somebody chose. No slug has only digits.
public sealed interface TerminalName {
    Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    record Number(long value) implements TerminalName {
        @Override
        public String toString() {
            return Long.toString(value);
        }
    }

    record Slug(String text) implements TerminalName {
        private static final Pattern FORM = Pattern.compile("(?=.*[a-z-])[a-z0-9-]{1,63}");

        public Slug {
            if (!isSlug(text)) {
                throw new IllegalArgumentException("not the slug of a terminal: " + text);
            }
        }

        /// Anything that is no slug is a `BAD_REQUEST` that names the field.
        public static Slug parse(String field, String text) {
            if (!isSlug(text)) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "%s must be 1 to 63 lower-case letters, digits and dashes, and not only digits"
                                .formatted(field));
            }
            return new Slug(text);
        }

        static boolean isSlug(String text) {
            return FORM.matcher(text).matches();
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /// A number or a slug; anything else is a `BAD_REQUEST` that names the field.
    static TerminalName parse(String field, String text) {
        return NUMBER.matcher(text).matches()
                ? new Number(Long.parseLong(text))
                : Slug.parse(field, text);
    }
}
