package coppice.network;

import coppice.base.RandomText;
import java.util.regex.Pattern;

/// The id of a tunnel: `tun-` and 20 characters of `[a-z0-9]`; `wg-` in records that were carried over.
public record TunnelId(String text) {
    private static final Pattern FORM = Pattern.compile("(tun|wg)-[a-z0-9]{20}");

    public TunnelId {
        if (!isId(text)) {
            throw new IllegalArgumentException("no such id: " + text);
        }
    }

    public static TunnelId random() {
        return new TunnelId(RandomText.id("tun-"));
    }

    public static boolean isId(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
