package coppice.vm;

import coppice.base.RandomText;
import java.util.regex.Pattern;

/// The id of a VM: `vm-` and 20 characters of `[a-z0-9]`. Also its hostname and the name of its process.
public record VmId(String text) {
    private static final Pattern FORM = Pattern.compile("vm-[a-z0-9]{20}");

    public VmId {
        if (!isId(text)) {
            throw new IllegalArgumentException("no VM id: " + text);
        }
    }

    public static VmId random() {
        return new VmId(RandomText.id("vm-"));
    }

    public static boolean isId(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
