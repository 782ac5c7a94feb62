package coppice.vm;

import coppice.base.RandomText;
import java.util.regex.Pattern;

/// The id of a snapshot: `sh-` and 20 characters of `[a-z0-9]`. The older prefix `sc-` names the same snapshot.
public record SnapshotId(String text) {
    private static final Pattern FORM = Pattern.compile("s[hc]-[a-z0-9]{20}");

    public SnapshotId {
        if (!isId(text)) {
            throw new IllegalArgumentException("no snapshot id: " + text);
        }
        text = "sh-" + text.substring(3);
    }

    public static SnapshotId random() {
        return new SnapshotId(RandomText.id("sh-"));
    }

    public static boolean isId(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
