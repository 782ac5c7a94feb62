package coppice.network;

import coppice.base.RandomText;
import java.util.regex.Pattern;

/// The id of a private network: `vpc-` and 20 characters of `[a-z0-9]`.
public record VpcId(String text) {
    private static final Pattern FORM = Pattern.compile("vpc-[a-z0-9]{20}");

    public VpcId {
        if (!isId(text)) {
            throw new IllegalArgumentException("no such id: " + text);
        }
    }

    public static VpcId random() {
        return new VpcId(RandomText.id("vpc-"));
    }

    public static boolean isId(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
