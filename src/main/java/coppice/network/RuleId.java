package coppice.network;

import coppice.base.RandomText;
import java.util.regex.Pattern;

/// The id of a firewall rule: `fw-` and 20 characters of `[a-z0-9]`.
public record RuleId(String text) {
    private static final Pattern FORM = Pattern.compile("fw-[a-z0-9]{20}");

    public RuleId {
        if (!isId(text)) {
            throw new IllegalArgumentException("no such id: " + text);
        }
    }

    public static RuleId random() {
        return new RuleId(RandomText.id("fw-"));
    }

    public static boolean isId(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
