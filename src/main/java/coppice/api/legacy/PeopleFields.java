package coppice.api.legacy;

import coppice.api.BodyFields;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonObject;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The Linux users and groups of a new VM in request bodies, each fault under its own name.
final class PeopleFields {
    private static final int MAX_ITEMS = 64;
    private static final int MAX_NAME = 32;
    private static final int MAX_TEXT = 256;
    private static final int MAX_NUMBER = 65_535;
    private static final int MAX_SYSTEM_NUMBER = 999;
    private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_-]*");

    /// What every image has already, or a package of it may.
    private static final Set<String> RESERVED =
            Set.of(
                    "root",
                    "daemon",
                    "bin",
                    "sys",
                    "adm",
                    "tty",
                    "disk",
                    "lp",
                    "mail",
                    "news",
                    "uucp",
                    "man",
                    "proxy",
                    "kmem",
                    "dialout",
                    "fax",
                    "voice",
                    "cdrom",
                    "floppy",
                    "tape",
                    "sudo",
                    "audio",
                    "dip",
                    "www-data",
                    "backup",
                    "operator",
                    "list",
                    "irc",
                    "src",
                    "shadow",
                    "utmp",
                    "video",
                    "sasl",
                    "plugdev",
                    "staff",
                    "games",
                    "users",
                    "nogroup",
                    "wheel",
                    "systemd-journal",
                    "systemd-network",
                    "systemd-timesync",
                    "messagebus");

    private PeopleFields() {}

    static List<Setup.Group> groups(JsonObject body) {
        var taken = new HashSet<String>();
        return few(body, "groups").stream()
                .map(
                        item -> {
                            var group = group(item);
                            if (!taken.add(group.name())) {
                                throw fault(
                                        item,
                                        Code.DUPLICATE_GROUP_NAME,
                                        "name",
                                        "is given twice; give each group a name of its own");
                            }
                            return group;
                        })
                .toList();
    }

    private static Setup.Group group(JsonObject item) {
        var name = item.string("name").orElse("");
        if (name.isEmpty()) {
            throw fault(item, Code.GROUP_NAME_EMPTY, "name", "must not be empty");
        }
        if (name.length() > MAX_NAME) {
            throw fault(
                    item,
                    Code.GROUP_NAME_TOO_LONG,
                    "name",
                    "must be at most %d characters".formatted(MAX_NAME));
        }
        if (!NAME.matcher(name).matches()) {
            throw fault(
                    item, Code.GROUP_NAME_INVALID_CHARS, "name", "must match [a-z_][a-z0-9_-]*");
        }
        if (RESERVED.contains(name)) {
            throw fault(
                    item,
                    Code.GROUP_NAME_RESERVED,
                    "name",
                    "is a group of the system; choose another one");
        }
        var gid = number(item, "gid", Code.VALIDATION_ERROR);
        return new Setup.Group(name, gid, item.bool("system").orElse(false));
    }

    static List<Setup.User> users(JsonObject body) {
        var taken = new HashSet<String>();
        return few(body, "users").stream()
                .map(
                        item -> {
                            var user = user(item);
                            if (!taken.add(user.name())) {
                                throw fault(
                                        item,
                                        Code.DUPLICATE_USER_NAME,
                                        "name",
                                        "is given twice; give each user a name of its own");
                            }
                            return user;
                        })
                .toList();
    }

    private static Setup.User user(JsonObject item) {
        var name = item.string("name").orElse("");
        if (name.length() > MAX_NAME || !NAME.matcher(name).matches()) {
            throw fault(
                    item,
                    Code.VALIDATION_ERROR,
                    "name",
                    "must be 1 to %d characters and match [a-z_][a-z0-9_-]*".formatted(MAX_NAME));
        }
        boolean isSystem = item.bool("system").orElse(false);
        var uid = number(item, "uid", Code.USER_UID_OUT_OF_RANGE);
        if (isSystem && uid.filter(number -> number > MAX_SYSTEM_NUMBER).isPresent()) {
            throw fault(
                    item,
                    Code.USER_SYSTEM_FLAG_MISMATCH,
                    "uid",
                    "of a system user must be at most %d".formatted(MAX_SYSTEM_NUMBER));
        }
        return new Setup.User(
                name,
                uid,
                comment(item),
                groupsOf(item),
                path(item, "home", Code.USER_HOME_INVALID).orElse(isSystem ? "/" : "/home/" + name),
                path(item, "shell", Code.USER_SHELL_INVALID)
                        .orElse(isSystem ? "/usr/sbin/nologin" : "/bin/bash"),
                isSystem);
    }

    private static String comment(JsonObject item) {
        var comment = item.string("gecos").orElse("");
        if (comment.length() > MAX_TEXT || isUnfit(comment)) {
            throw fault(
                    item,
                    Code.VALIDATION_ERROR,
                    "gecos",
                    "must be at most %d characters, without colons and control characters"
                            .formatted(MAX_TEXT));
        }
        return comment;
    }

    private static List<String> groupsOf(JsonObject item) {
        var groups = item.strings("groups").orElse(List.of());
        if (groups.stream().anyMatch(String::isEmpty)) {
            throw fault(item, Code.USER_GROUP_EMPTY, "groups", "must hold no empty name");
        }
        if (groups.size() > MAX_ITEMS
                || !groups.stream()
                        .allMatch(
                                group ->
                                        group.length() <= MAX_NAME
                                                && NAME.matcher(group).matches())) {
            throw fault(
                    item,
                    Code.VALIDATION_ERROR,
                    "groups",
                    "must be at most %d names of groups".formatted(MAX_ITEMS));
        }
        return groups;
    }

    private static Optional<String> path(JsonObject item, String field, Code invalid) {
        var path = item.string(field);
        path.filter(text -> !text.startsWith("/") || text.length() > MAX_TEXT || isUnfit(text))
                .ifPresent(
                        _ -> {
                            throw fault(
                                    item,
                                    invalid,
                                    field,
                                    "must be an absolute path without colons and control characters");
                        });
        return path;
    }

    private static Optional<Integer> number(JsonObject item, String field, Code outOfRange) {
        try {
            return BodyFields.whole(item, field, 0, MAX_NUMBER);
        } catch (Failure e) {
            throw item.integer(field).isPresent()
                    ? fault(item, outOfRange, field, "must be 0 to %d".formatted(MAX_NUMBER))
                    : e;
        }
    }

    /// What a line of /etc/passwd cannot hold.
    private static boolean isUnfit(String text) {
        return text.chars().anyMatch(c -> c == ':' || Character.isISOControl(c));
    }

    private static List<JsonObject> few(JsonObject body, String field) {
        var items = body.objects(field).orElse(List.of());
        if (items.size() > MAX_ITEMS) {
            throw fault(
                    body,
                    Code.VALIDATION_ERROR,
                    field,
                    "has more than %d entries; send fewer".formatted(MAX_ITEMS));
        }
        return items;
    }

    private static Failure fault(JsonObject item, Code code, String field, String problem) {
        return new Failure(code, "%s: %s".formatted(item.path(field), problem));
    }
}
