package coppice.api.legacy;

import coppice.api.legacy.GuestShell.Answer;
import coppice.api.legacy.GuestShell.Script;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The services of one guest: of its system, or of one of its users. Each call runs a script of [SystemdScripts] in the guest.
///
/// Failures: `CONFLICT` for a guest without systemd, `SERVICE_NOT_FOUND` and the like as the guest says; what systemd itself refuses is
/// `UNAVAILABLE`, with its own words.
final class Systemd {
    /// Of the longest that one step may take: a stop of a service that ignores being asked.
    private static final Duration STEP = Duration.ofSeconds(120);

    private static final Pattern UNIT_NAME =
            Pattern.compile("[A-Za-z0-9:_][A-Za-z0-9:_.@\\\\-]{0,240}");

    private final GuestShell shell;
    private final Optional<Owner> owner;

    /// Of a user. `user` is its name, `uid` its number.
    private record Owner(String user, String uid) {}

    private Systemd(GuestShell shell, Optional<Owner> owner) {
        this.shell = shell;
        this.owner = owner;
    }

    static Systemd ofSystem(GuestShell shell) {
        return new Systemd(shell, Optional.empty());
    }

    /// The services of a user, whose manager is started if need be and from then on at every boot.
    static Systemd of(GuestShell shell, Optional<String> user) {
        if (user.isEmpty() || user.get().equals(GuestShell.ROOT)) {
            return ofSystem(shell);
        }
        var answer =
                shell.run(
                        Script.ofRoot(SystemdScripts.MANAGER, Map.of("MANAGED", user.get())),
                        Deadline.in(STEP));
        return switch (answer.status().orElse(-1)) {
            case 0 ->
                    new Systemd(shell, Optional.of(new Owner(user.get(), answer.stdout().strip())));
            case SystemdScripts.NO_USER -> throw absent(Code.USER_NOT_FOUND, "user", user.get());
            default -> throw refused("start the service manager of " + user.get(), answer);
        };
    }

    /// The unit that a caller names, with or without its ending.
    static String unit(String service) {
        var ending = ServiceFields.ENDING;
        var name =
                service.endsWith(ending)
                        ? service.substring(0, service.length() - ending.length())
                        : service;
        if (!UNIT_NAME.matcher(name).matches()) {
            throw absent(service);
        }
        return name + ending;
    }

    /// The names of all services, sorted.
    List<String> list() {
        var answer = run(SystemdScripts.LIST, Map.of(), new byte[0], Deadline.in(STEP));
        if (!answer.isSuccess()) {
            throw refused("list the services", answer);
        }
        return answer
                .stdout()
                .lines()
                .map(String::strip)
                .filter(unit -> unit.endsWith(ServiceFields.ENDING))
                .map(unit -> unit.substring(0, unit.length() - ServiceFields.ENDING.length()))
                .filter(name -> !name.endsWith("@")) // a template is no service
                .collect(Collectors.toCollection(TreeSet::new))
                .stream()
                .toList();
    }

    /// Writes a new unit, enables and starts it, unless it is not to be enabled. A refused one leaves nothing. That the command itself
    /// fails is for its status to show.
    void create(Service service, String workdir) {
        var program = service.program();
        var text =
                UnitFile.unit(
                        service,
                        owner.isPresent(),
                        Optional.of(workdir).filter(_ -> owner.isEmpty()));
        var answer =
                run(
                        SystemdScripts.CREATE,
                        Map.of(
                                "UNIT",
                                service.unit(),
                                "RUN_AS",
                                program.user().orElse(""),
                                "RUN_GROUP",
                                program.group().orElse(""),
                                "ENABLE",
                                service.enable().orElse(true) ? "1" : ""),
                        text.getBytes(StandardCharsets.UTF_8),
                        Deadline.in(STEP));
        switch (answer.status().orElse(-1)) {
            case 0 -> {}
            case SystemdScripts.EXISTS ->
                    throw new Failure(
                            Code.SERVICE_ALREADY_EXISTS,
                            "there is a service %s; delete it first, or choose another name"
                                    .formatted(service.name()),
                            Map.of("serviceName", service.name()));
            case SystemdScripts.NO_USER ->
                    throw absent(Code.USER_NOT_FOUND, "user", program.user().orElse(""));
            case SystemdScripts.NO_GROUP ->
                    throw absent(Code.GROUP_NOT_FOUND, "group", program.group().orElse(""));
            default -> throw refused("create the service " + service.name(), answer);
        }
    }

    /// Changes a unit that exists, by a drop-in.
    void patch(Service service) {
        var answer =
                run(
                        SystemdScripts.PATCH,
                        Map.of(
                                "UNIT",
                                service.unit(),
                                "ENABLE",
                                service.enable().map(yes -> yes ? "enable" : "disable").orElse("")),
                        UnitFile.dropIn(service).getBytes(StandardCharsets.UTF_8),
                        Deadline.in(STEP));
        requireFound(service.name(), answer);
        if (!answer.isSuccess()) {
            throw refused("change the service " + service.name(), answer);
        }
    }

    /// Stops, disables and removes a unit.
    void delete(String service) {
        var answer =
                run(
                        SystemdScripts.DELETE,
                        Map.of("UNIT", unit(service)),
                        new byte[0],
                        Deadline.in(STEP));
        requireFound(service, answer);
        if (!answer.isSuccess()) {
            throw refused("delete the service " + service, answer);
        }
    }

    record Status(String activeState, String subState, String loadState, String description) {}

    Status status(String service) {
        var unit = unit(service);
        var answer =
                run(SystemdScripts.STATUS, Map.of("UNIT", unit), new byte[0], Deadline.in(STEP));
        requireFound(service, answer);
        if (!answer.isSuccess()) {
            throw refused("read the status of " + service, answer);
        }
        var found = new HashMap<String, String>();
        answer.stdout()
                .lines()
                .map(line -> line.split("=", 2))
                .filter(pair -> pair.length == 2)
                .forEach(pair -> found.put(pair[0], pair[1]));
        return new Status(
                found.getOrDefault("ActiveState", ""),
                found.getOrDefault("SubState", ""),
                found.getOrDefault("LoadState", ""),
                found.getOrDefault("Description", ""));
    }

    /// The last lines of a service's journal, oldest first.
    List<JournalLine> logs(String service, int lines, Optional<Instant> since) {
        var unit = unit(service);
        status(service);
        var environment = new HashMap<String, String>();
        environment.put("UNIT", unit);
        environment.put("LINES", Integer.toString(lines));
        environment.put("SINCE", since.map(JournalLine::since).orElse(""));
        environment.put("OWNER", owner.map(Owner::uid).orElse(""));
        // Root reads: a user may not be let at the journal.
        var answer = shell.run(Script.ofRoot(SystemdScripts.LOGS, environment), Deadline.in(STEP));
        if (!answer.isSuccess()) {
            throw refused("read the logs of " + service, answer);
        }
        if (answer.isTruncated()) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the logs of %s are larger than 16 MiB; ask for fewer lines"
                            .formatted(service));
        }
        return JournalLine.parse(answer.stdout());
    }

    enum Act {
        START("started"),
        STOP("stopped"),
        RESTART("restarted");

        private final String done;

        Act(String done) {
            this.done = done;
        }

        String verb() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    record Result(boolean isSuccess, String message) {}

    /// Does something to a service and waits for it. That the service is unknown, or does not want, is a result.
    Result act(Act act, String service, Deadline deadline) {
        String unit;
        try {
            unit = unit(service);
        } catch (Failure e) {
            return new Result(false, e.getMessage());
        }
        var answer =
                run(
                        SystemdScripts.ACT,
                        Map.of("UNIT", unit, "VERB", act.verb()),
                        new byte[0],
                        deadline.atMost(STEP));
        if (answer.is(SystemdScripts.ABSENT)) {
            return new Result(false, absent(service).getMessage());
        }
        if (answer.status().isEmpty()) {
            return new Result(
                    false, "%s is not %s yet; systemd goes on".formatted(service, act.done));
        }
        return answer.isSuccess() ? new Result(true, act.done) : new Result(false, answer.words());
    }

    private Answer run(String script, Map<String, String> more, byte[] stdin, Deadline deadline) {
        var environment = new HashMap<>(more);
        environment.put("MANAGER", owner.isPresent() ? "--user" : "--system");
        owner.ifPresent(o -> environment.put("XDG_RUNTIME_DIR", "/run/user/" + o.uid()));
        var user = owner.map(Owner::user).orElse(GuestShell.ROOT);
        var answer =
                shell.run(Script.ofRoot(script, environment).as(user).reading(stdin), deadline);
        if (answer.is(SystemdScripts.NO_SYSTEMD)) {
            throw noSystemd();
        }
        return answer;
    }

    private static void requireFound(String service, Answer answer) {
        if (answer.is(SystemdScripts.ABSENT)) {
            throw absent(service);
        }
    }

    private static Failure refused(String act, Answer answer) {
        return answer.is(SystemdScripts.NO_SYSTEMD)
                ? noSystemd()
                : new Failure(
                        Code.UNAVAILABLE,
                        "the VM's systemd did not %s: %s".formatted(act, answer.words()));
    }

    private static Failure noSystemd() {
        return new Failure(
                Code.CONFLICT,
                "this VM has no systemd, and so no services; make one from a snapshot with systemd");
    }

    private static Failure absent(String service) {
        return absent(Code.SERVICE_NOT_FOUND, "service", service);
    }

    private static Failure absent(Code code, String kind, String name) {
        var clean = name.replaceAll("\\p{Cntrl}", "?");
        return new Failure(
                code,
                "there is no %s %s in this VM"
                        .formatted(
                                kind,
                                clean.length() <= 80 ? clean : clean.substring(0, 80) + "..."));
    }
}
