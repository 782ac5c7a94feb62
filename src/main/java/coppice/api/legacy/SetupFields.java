package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What a legacy create wants to be inside the VM.
final class SetupFields {
    private static final int MAX_SERVICES = 64;
    private static final int MAX_FILES = 128;
    private static final int MAX_PACKAGES = 256;
    private static final int MAX_REPOSITORIES = 32;
    private static final int MAX_PATH = 4096;
    private static final Pattern PACKAGE =
            Pattern.compile("[A-Za-z0-9][A-Za-z0-9+.:~-]*([=/][A-Za-z0-9+.:~*-]+)?");
    private static final Pattern URL =
            Pattern.compile("(https?|git|ssh)://[^\\p{Cntrl}\\s]{1,2000}");
    private static final Pattern REVISION =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_./@^~-]{0,250}");

    private SetupFields() {}

    static Setup read(JsonObject body, String workdir) {
        var systemd = body.object("systemd").orElse(JsonObject.empty());
        return new Setup(
                workdir,
                PeopleFields.groups(body),
                PeopleFields.users(body),
                packages(body),
                files(body),
                git(body),
                services(systemd, "services"),
                services(systemd, "patchedServices"));
    }

    private static List<Service> services(JsonObject systemd, String field) {
        var items = systemd.objects(field).orElse(List.of());
        if (items.size() > MAX_SERVICES) {
            throw tooMany(systemd, field, MAX_SERVICES);
        }
        var taken = new HashSet<String>();
        return items.stream()
                .map(
                        item -> {
                            var service =
                                    field.equals("services")
                                            ? ServiceFields.service(item)
                                            : ServiceFields.patch(item);
                            if (!taken.add(service.name())) {
                                throw fault(item, "name", "is given twice; give each its own");
                            }
                            return service;
                        })
                .toList();
    }

    private static List<String> packages(JsonObject body) {
        var packages = body.strings("aptDeps").orElse(List.of());
        if (packages.size() > MAX_PACKAGES) {
            throw tooMany(body, "aptDeps", MAX_PACKAGES);
        }
        if (!packages.stream().allMatch(name -> PACKAGE.matcher(name).matches())) {
            throw fault(body, "aptDeps", "must hold names of Debian packages");
        }
        return packages;
    }

    private static List<Setup.File> files(JsonObject body) {
        var object = body.object("additionalFiles").orElse(JsonObject.empty());
        if (object.fields().size() > MAX_FILES) {
            throw tooMany(body, "additionalFiles", MAX_FILES);
        }
        return object.fields().stream()
                .map(path -> file(object, path, object.requiredObject(path)))
                .toList();
    }

    private static Setup.File file(JsonObject files, String path, JsonObject file) {
        if (!isPath(path) || path.endsWith("/")) {
            throw fault(files, path, "must be the absolute path of a file, without ..");
        }
        var content = file.requiredString("content");
        var bytes =
                switch (file.string("encoding").orElse("utf-8")) {
                    case "utf-8" -> content.getBytes(StandardCharsets.UTF_8);
                    case "base64" -> decode(file, content);
                    default -> throw fault(file, "encoding", "must be utf-8 or base64");
                };
        return new Setup.File(path, bytes, file.bool("executable").orElse(false));
    }

    private static byte[] decode(JsonObject file, String content) {
        try {
            return Base64.getDecoder().decode(content);
        } catch (IllegalArgumentException _) {
            throw fault(file, "content", "must be base64 (RFC 4648 section 4)");
        }
    }

    private static Setup.Git git(JsonObject body) {
        var git = body.object("git").orElse(JsonObject.empty());
        var user =
                git.object("config")
                        .flatMap(config -> config.object("user"))
                        .orElse(JsonObject.empty());
        var settings = new LinkedHashMap<String, String>();
        for (var name : List.of("name", "email", "signingkey")) {
            user.string(name)
                    .ifPresent(
                            value -> {
                                if (value.length() > MAX_PATH || hasControl(value)) {
                                    throw fault(user, name, "must be one short line");
                                }
                                settings.put("user." + name, value);
                            });
        }
        var repositories =
                Stream.of(git.objects("repos"), body.objects("gitRepos"))
                        .flatMap(list -> list.orElse(List.of()).stream())
                        .toList();
        if (repositories.size() > MAX_REPOSITORIES) {
            throw tooMany(body, "git", MAX_REPOSITORIES);
        }
        var read = new ArrayList<Setup.Repository>();
        repositories.forEach(item -> read.add(repository(item)));
        return new Setup.Git(settings, read);
    }

    private static Setup.Repository repository(JsonObject item) {
        var url = item.requiredString("repo");
        var path = item.requiredString("path");
        if (!isPath(path)) {
            throw fault(item, "path", "must be an absolute path, without ..");
        }
        var revision = item.string("rev");
        if (revision.filter(text -> !REVISION.matcher(text).matches()).isPresent()) {
            throw fault(item, "rev", "must be a branch, a tag or a commit");
        }
        if (!url.contains(":")) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s: this server has no repositories of its own yet; send a URL"
                            .formatted(item.path("repo")));
        }
        if (!URL.matcher(url).matches()) {
            throw fault(item, "repo", "must be a URL of https, http, git or ssh");
        }
        return new Setup.Repository(url, path, revision);
    }

    private static boolean isPath(String path) {
        return path.startsWith("/")
                && path.length() <= MAX_PATH
                && !hasControl(path)
                && Stream.of(path.split("/")).noneMatch(part -> part.equals(".."));
    }

    private static boolean hasControl(String text) {
        return text.chars().anyMatch(Character::isISOControl);
    }

    private static Failure tooMany(JsonObject body, String field, int most) {
        return fault(body, field, "has more than %d entries; send fewer".formatted(most));
    }

    private static Failure fault(JsonObject body, String field, String problem) {
        return new Failure(
                Code.VALIDATION_ERROR, "%s: %s".formatted(shown(body.path(field)), problem));
    }

    /// A path of a file is the caller's own text.
    private static String shown(String path) {
        var clean = path.replaceAll("\\p{Cntrl}", "?");
        return clean.length() <= 200 ? clean : clean.substring(0, 200) + "...";
    }
}
