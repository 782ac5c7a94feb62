package coppice.api.legacy;

import coppice.api.BodyFields;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// Services in request bodies, each fault under its own name. What a unit file cannot hold is `VALIDATION_ERROR`.
final class ServiceFields {
    static final String ENDING = ".service";
    private static final int MAX_NAME = 128;
    private static final int MAX_VALUE = 16_384;
    private static final int MAX_ITEMS = 64;
    private static final int MAX_SECONDS = 315_360_000;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9:_.@-]*[A-Za-z0-9:_.-]");
    private static final Pattern UNIT =
            Pattern.compile(
                    "[A-Za-z0-9:_][A-Za-z0-9:_.@\\\\-]{0,200}\\."
                            + "(service|socket|target|device|mount|automount|swap|timer|path|slice|scope)");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final List<String> POLICIES =
            List.of("no", "on-failure", "always", "on-abnormal");

    private final JsonObject body;

    private ServiceFields(JsonObject body) {
        this.body = body;
    }

    /// A new service.
    static Service service(JsonObject body) {
        var fields = new ServiceFields(body);
        var name = fields.name();
        var mode = fields.mode().orElseThrow(() -> fields.invalid("mode", "is required; send it"));
        if (!body.has("exec")) {
            throw fields.empty(Code.EXEC_EMPTY, "exec");
        }
        return fields.read(name, Optional.of(mode));
    }

    /// What is to be changed of a service that exists.
    static Service patch(JsonObject body) {
        var fields = new ServiceFields(body);
        return fields.read(fields.name(), fields.mode());
    }

    private Service read(String name, Optional<Service.Mode> mode) {
        var service =
                new Service(
                        name,
                        mode,
                        program(),
                        new Service.Bonds(
                                units("after", ENDING, Code.AFTER_ARRAY_CONTAINS_EMPTY),
                                units("requires", ENDING, Code.REQUIRES_ARRAY_CONTAINS_EMPTY),
                                units("onFailure", ENDING, Code.ON_FAILURE_ARRAY_CONTAINS_EMPTY),
                                wantedBy()),
                        behaviour(),
                        body.bool("enable"));
        if (service.isOneshot()
                && service.behaviour()
                        .restart()
                        .filter(r -> r.policy().equals("always"))
                        .isPresent()) {
            throw invalid("restartPolicy", "a oneshot cannot be restarted always");
        }
        return service;
    }

    private String name() {
        var text = body.string("name").orElse("");
        var name =
                text.endsWith(ENDING) ? text.substring(0, text.length() - ENDING.length()) : text;
        if (name.isEmpty()) {
            throw empty(Code.SERVICE_NAME_EMPTY, "name");
        }
        if (name.length() > MAX_NAME) {
            throw fault(
                    Code.SERVICE_NAME_TOO_LONG,
                    "name",
                    "must be at most %d characters".formatted(MAX_NAME));
        }
        if (name.startsWith(".") || name.startsWith("-")) {
            throw fault(Code.SERVICE_NAME_INVALID_PREFIX, "name", "must not begin with . or -");
        }
        if (name.codePoints().anyMatch(c -> c == '/' || c == 0 || isSpace(c))) {
            throw fault(
                    Code.SERVICE_NAME_INVALID_CHARS,
                    "name",
                    "must have no slash, no NUL and no white space");
        }
        if (!NAME.matcher(name).matches()) {
            throw invalid("name", "must be of ASCII letters, digits and :_.@- and not end with @");
        }
        return name;
    }

    private static boolean isSpace(int c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }

    private Optional<Service.Mode> mode() {
        return body.string("mode")
                .map(
                        word ->
                                switch (word) {
                                    case "service" -> Service.Mode.SERVICE;
                                    case "oneshot" -> Service.Mode.ONESHOT;
                                    default -> throw invalid("mode", "must be service or oneshot");
                                });
    }

    private Service.Program program() {
        var exec = body.strings("exec");
        if (exec.isPresent()
                && (exec.get().isEmpty() || exec.get().stream().anyMatch(String::isBlank))) {
            throw empty(Code.EXEC_EMPTY, "exec");
        }
        return new Service.Program(
                requireFew("exec", exec.orElse(List.of())),
                environment(),
                filled("user", Code.USER_EMPTY),
                filled("group", Code.GROUP_EMPTY),
                workdir());
    }

    private Map<String, String> environment() {
        var environment = body.stringMap("env").orElse(Map.of());
        requireFew("env", List.copyOf(environment.keySet()));
        environment.forEach(
                (name, value) -> {
                    if (name.isEmpty()) {
                        throw empty(Code.ENV_KEY_EMPTY, "env");
                    }
                    if (name.contains("=")) {
                        throw fault(
                                Code.ENV_KEY_CONTAINS_EQUALS, "env", "names must not contain =");
                    }
                    if (!VARIABLE.matcher(name).matches()) {
                        throw invalid("env", "names must match [A-Za-z_][A-Za-z0-9_]*");
                    }
                    requireLine("env", value);
                });
        return environment;
    }

    private Optional<String> workdir() {
        var workdir = filled("workdir", Code.WORKDIR_EMPTY);
        workdir.filter(path -> !isWorkdir(path))
                .ifPresent(
                        _ -> {
                            throw invalid(
                                    "workdir",
                                    "must be an absolute path without .. and without a space or backslash at its end");
                        });
        return workdir;
    }

    /// Whether systemd reads this path of a working directory as it is written.
    static boolean isWorkdir(String path) {
        return path.startsWith("/")
                && path.length() <= 4096
                && path.equals(path.strip())
                && !path.endsWith("\\")
                && isLine(path)
                && List.of(path.split("/")).stream().noneMatch(part -> part.equals(".."));
    }

    private List<String> units(String field, String ending, Code isEmpty) {
        var units = requireFew(field, body.strings(field).orElse(List.of()));
        if (units.stream().anyMatch(String::isEmpty)) {
            throw empty(isEmpty, field);
        }
        var whole = units.stream().map(unit -> unit.contains(".") ? unit : unit + ending).toList();
        if (!whole.stream().allMatch(unit -> UNIT.matcher(unit).matches())) {
            throw invalid(field, "must hold names of units");
        }
        return whole;
    }

    private List<String> wantedBy() {
        if (body.strings("wantedBy").filter(List::isEmpty).isPresent()) {
            throw empty(Code.WANTED_BY_EMPTY, "wantedBy");
        }
        return units("wantedBy", ".target", Code.WANTED_BY_EMPTY);
    }

    private Service.Behaviour behaviour() {
        return new Service.Behaviour(
                seconds(body, "timeoutSec"),
                seconds(body, "watchdogSec"),
                body.bool("readySignal"),
                body.bool("remainAfterExit"),
                body.bool("deleteAfterSuccess").orElse(false),
                body.object("restartPolicy").map(this::restart));
    }

    private Service.Restart restart(JsonObject object) {
        var policy = object.requiredString("policy");
        if (!POLICIES.contains(policy)) {
            throw new Failure(
                    Code.VALIDATION_ERROR,
                    "%s: must be one of %s"
                            .formatted(object.path("policy"), String.join(", ", POLICIES)));
        }
        return new Service.Restart(
                policy,
                seconds(object, "restartSec"),
                seconds(object, "startLimitBurst"),
                seconds(object, "startLimitIntervalSec"));
    }

    private static Optional<Integer> seconds(JsonObject object, String field) {
        return BodyFields.whole(object, field, 0, MAX_SECONDS);
    }

    private Optional<String> filled(String field, Code isEmpty) {
        var value = body.string(field);
        if (value.filter(String::isEmpty).isPresent()) {
            throw empty(isEmpty, field);
        }
        value.ifPresent(text -> requireLine(field, text));
        return value;
    }

    private List<String> requireFew(String field, List<String> values) {
        if (values.size() > MAX_ITEMS) {
            throw invalid(field, "has more than %d entries; send fewer".formatted(MAX_ITEMS));
        }
        values.forEach(value -> requireLine(field, value));
        return values;
    }

    private void requireLine(String field, String value) {
        if (value.length() > MAX_VALUE) {
            throw invalid(field, "has more than %d characters".formatted(MAX_VALUE));
        }
        if (!isLine(value)) {
            throw invalid(field, "must have no line break and no other control character");
        }
    }

    private static boolean isLine(String value) {
        return value.chars().noneMatch(c -> c != '\t' && Character.isISOControl(c));
    }

    private Failure empty(Code code, String field) {
        return fault(code, field, "must not be empty");
    }

    private Failure invalid(String field, String problem) {
        return fault(Code.VALIDATION_ERROR, field, problem);
    }

    private Failure fault(Code code, String field, String problem) {
        return new Failure(code, "%s: %s".formatted(body.path(field), problem));
    }
}
