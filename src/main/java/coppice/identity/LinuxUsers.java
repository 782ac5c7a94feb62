package coppice.identity;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// As which users of a guest a grant lets commands run. They need not exist there yet.
///
/// @param names absent: as any; never empty
public record LinuxUsers(Optional<List<String>> names) {
    private static final int MAX = 64;
    private static final Pattern FORM = Pattern.compile("[a-z_][a-z0-9_-]{0,31}");

    public static final String ROOT = "root";
    public static final LinuxUsers ANY = new LinuxUsers(Optional.empty());

    public LinuxUsers {
        names = names.map(List::copyOf);
    }

    /// Reads what a caller sent as `field`, without duplicates. `BAD_REQUEST` if there are none or more than 64, or if one is no name of a
    /// user.
    public static LinuxUsers only(String field, List<String> names) {
        if (names.isEmpty()) {
            throw fault(field, "must name at least one user, or be null for any user");
        }
        if (names.size() > MAX) {
            throw fault(field, "must name at most %d users".formatted(MAX));
        }
        for (int i = 0; i < names.size(); i++) {
            requireName("%s[%d]".formatted(field, i), names.get(i));
        }
        return new LinuxUsers(Optional.of(names.stream().distinct().toList()));
    }

    /// Checks whom a caller wants to act as, in `field`. Who may act only as some must say as whom: `BAD_REQUEST`. `LINUX_USER_NOT_ALLOWED`
    /// for another one.
    public void check(String field, Optional<String> wanted) {
        if (names.isEmpty()) {
            return;
        }
        var may = String.join(", ", names.get());
        var user = wanted.orElseThrow(() -> fault(field, "is required; you may act as " + may));
        if (!names.get().contains(user)) {
            throw new Failure(
                    Code.LINUX_USER_NOT_ALLOWED,
                    "%s: you may not act as %s, but as %s".formatted(field, user, may));
        }
    }

    /// Whose things a caller is shown: those of `wanted`, who is checked as by [#check], or of all as whom it may act.
    public LinuxUsers narrowed(String field, Optional<String> wanted) {
        wanted.ifPresent(_ -> check(field, wanted));
        return wanted.map(user -> new LinuxUsers(Optional.of(List.of(user)))).orElse(this);
    }

    public boolean includes(String user) {
        return names.isEmpty() || names.get().contains(user);
    }

    /// Refuses as `BAD_REQUEST` what no user of an image of ours can be called.
    public static void requireName(String field, String text) {
        if (!FORM.matcher(text).matches()) {
            throw fault(
                    field,
                    "must be the name of a Linux user: up to 32 of a-z, 0-9, _ and -, the first no digit and no dash");
        }
    }

    /// Whether what is done as root may be done.
    public boolean includesRoot() {
        return includes(ROOT);
    }

    /// As [#check], of what is done as root.
    public void checkRoot() {
        check("this is done as root", Optional.of(ROOT));
    }

    /// For the store: names have no blanks.
    Optional<String> text() {
        return names.map(all -> String.join(" ", all));
    }

    static LinuxUsers stored(Optional<String> text) {
        return new LinuxUsers(text.map(all -> Arrays.asList(all.split(" "))));
    }

    private static Failure fault(String field, String problem) {
        return new Failure(Code.BAD_REQUEST, field + " " + problem);
    }
}
