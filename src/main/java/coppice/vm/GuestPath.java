package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.List;

/// A path in a guest: absolute, without `..` and NUL, of at most 4096 characters.
public record GuestPath(String text) {
    private static final int MAX_LENGTH = 4096;
    private static final int SHOWN = 80;

    /// @throws Failure `BAD_REQUEST` for any other text
    public GuestPath {
        if (!text.startsWith("/")
                || text.length() > MAX_LENGTH
                || text.indexOf('\0') >= 0
                || segments(text).contains("..")) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "path must begin with /, have no .. and no NUL in it and at most %d characters, not be %s"
                            .formatted(MAX_LENGTH, shown(text)));
        }
    }

    /// Whether it is the root directory, however it is spelled.
    public boolean isRoot() {
        return segments(text).stream().allMatch(part -> part.isEmpty() || part.equals("."));
    }

    /// Safe to show.
    @Override
    public String toString() {
        return shown(text);
    }

    private static List<String> segments(String text) {
        return List.of(text.split("/"));
    }

    private static String shown(String text) {
        var clean = text.replaceAll("\\p{Cntrl}", "?");
        return clean.length() <= SHOWN ? clean : clean.substring(0, SHOWN) + "...";
    }
}
