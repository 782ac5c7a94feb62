package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.Random;
import java.util.UUID;
import java.util.regex.Pattern;

/// A name by which a call can ask for something.
///
/// @param text as it is sent
/// @param core the part of it by which it is unlike any other one
record IsolationName(String text, String core) {
    private static final Pattern UUID_TEXT =
            Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final int PREFIX = 8;

    IsolationName {
        if (core.length() < 3 || !text.contains(core)) {
            throw new IllegalArgumentException(text + " is not told by " + core);
        }
    }

    static IsolationName of(String text) {
        return new IsolationName(text, text);
    }

    /// An id, which may have the prefix of its kind.
    static IsolationName ofId(String id) {
        boolean isPrefixed = !UUID_TEXT.matcher(id).matches() && id.lastIndexOf('-') < PREFIX;
        return new IsolationName(id, isPrefixed ? id.substring(id.lastIndexOf('-') + 1) : id);
    }

    /// The same thing by another prefix.
    IsolationName under(String prefix) {
        return new IsolationName(prefix + core, core);
    }

    /// One that is as well-formed and as long, and names nothing.
    IsolationName other(Random random) {
        var otherCore =
                UUID_TEXT.matcher(core).matches()
                        ? new UUID(
                                        random.nextLong() & ~0xF000L | 0x4000L,
                                        random.nextLong() & -1L >>> 2 | Long.MIN_VALUE)
                                .toString()
                        : alike(random);
        return new IsolationName(text.replace(core, otherCore), otherCore);
    }

    /// Digits for digits, letters for letters; those that are hexadecimal remain so, and a zero, which may not stand everywhere.
    private String alike(Random random) {
        var alike = new StringBuilder();
        core.chars().forEach(c -> alike.append(alike((char) c, random)));
        return alike.toString();
    }

    private static char alike(char c, Random random) {
        for (var range : new String[] {"19", "af", "gz", "AZ"}) {
            if (c >= range.charAt(0) && c <= range.charAt(1)) {
                return (char) random.nextInt(range.charAt(0), range.charAt(1) + 1);
            }
        }
        return c;
    }

    /// The text with one word in place of this.
    String hiddenIn(String answer) {
        return answer.replace(core, "ID").replace(URLEncoder.encode(core, UTF_8), "ID");
    }
}
