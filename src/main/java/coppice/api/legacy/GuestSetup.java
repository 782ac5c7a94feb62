package coppice.api.legacy;

import coppice.api.legacy.GuestShell.Answer;
import coppice.api.legacy.GuestShell.Script;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Makes a [Setup] inside a new VM, as root. What does not work is `VM_SETUP_FAILED`, with the guest's own words.
final class GuestSetup {
    private static final int LOG_LINES = 50;

    private final GuestShell shell;
    private final Systemd systemd;
    private final String snapshot;
    private final Deadline deadline;

    /// @param snapshot what the VM was made from, for the failure
    GuestSetup(GuestShell shell, String snapshot, Deadline deadline) {
        this.shell = shell;
        this.systemd = Systemd.ofSystem(shell);
        this.snapshot = snapshot;
        this.deadline = deadline;
    }

    void run(Setup setup) {
        if (!setup.workdir().equals("/")) {
            step(
                    "make the workdir",
                    Script.ofRoot(
                            "mkdir -p -- \"$NEW_PATH\"", Map.of("NEW_PATH", setup.workdir())));
        }
        setup.groups().forEach(this::addGroup);
        setup.users().forEach(this::addUser);
        install(setup.packages());
        setup.files().forEach(this::write);
        clone(setup.git());
        for (var service : setup.patches()) {
            attempt("patch the service " + service.name(), () -> systemd.patch(service));
        }
        for (var service : setup.services()) {
            attempt(
                    "create the service " + service.name(),
                    () -> systemd.create(service, setup.workdir()));
        }
    }

    private void addGroup(Setup.Group group) {
        step(
                "add the group " + group.name(),
                Script.ofRoot(
                        SetupScripts.GROUP,
                        Map.of(
                                "NEW_NAME", group.name(),
                                "NEW_ID", group.gid().map(Object::toString).orElse(""),
                                "NEW_SYSTEM", group.isSystem() ? "1" : "")));
    }

    private void addUser(Setup.User user) {
        step(
                "add the user " + user.name(),
                Script.ofRoot(
                        SetupScripts.USER,
                        Map.of(
                                "NEW_NAME", user.name(),
                                "NEW_ID", user.uid().map(Object::toString).orElse(""),
                                "NEW_COMMENT", user.comment(),
                                "NEW_GROUPS", String.join(",", user.groups()),
                                "NEW_HOME", user.home(),
                                "NEW_SHELL", user.shell(),
                                "NEW_SYSTEM", user.isSystem() ? "1" : "")));
    }

    private void install(List<String> packages) {
        if (!packages.isEmpty()) {
            var names = String.join("\n", packages) + "\n";
            step(
                    "install packages",
                    Script.ofRoot(SetupScripts.NETWORK + SetupScripts.PACKAGES, Map.of())
                            .reading(names.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private void write(Setup.File file) {
        step(
                "write " + file.path(),
                Script.ofRoot(
                                SetupScripts.FILE,
                                Map.of(
                                        "NEW_PATH",
                                        file.path(),
                                        "NEW_MODE",
                                        file.isExecutable() ? "0755" : "0644"))
                        .reading(file.content()));
    }

    private void clone(Setup.Git git) {
        git.settings()
                .forEach(
                        (name, value) ->
                                step(
                                        "set git's " + name,
                                        Script.ofRoot(
                                                SetupScripts.GIT_SETTING,
                                                Map.of("NEW_NAME", name, "NEW_VALUE", value))));
        git.repositories()
                .forEach(
                        repository ->
                                step(
                                        "clone into " + repository.path(),
                                        Script.ofRoot(
                                                SetupScripts.NETWORK + SetupScripts.CLONE,
                                                Map.of(
                                                        "NEW_URL", repository.url(),
                                                        "NEW_PATH", repository.path(),
                                                        "NEW_REVISION",
                                                                repository
                                                                        .revision()
                                                                        .orElse("")))));
    }

    /// Waits until the services that tell when they are ready have done so.
    void awaitReady(Setup setup, Duration patience) {
        var units =
                setup.services().stream()
                        .filter(s -> s.behaviour().isReadyBySignal() && s.enable().orElse(true))
                        .map(Service::unit)
                        .toList();
        if (units.isEmpty()) {
            return;
        }
        var answer =
                shell.run(
                        Script.ofRoot(
                                SystemdScripts.AWAIT_READY,
                                Map.of("UNITS", String.join(" ", units))),
                        Deadline.in(patience));
        if (answer.status().isEmpty()) {
            throw new Failure(
                    Code.VM_START_TIMEOUT,
                    "the VM runs, but %s did not tell in %d s to be ready"
                            .formatted(String.join(", ", units), patience.toSeconds()));
        }
        if (!answer.isSuccess()) {
            var failed = answer.stdout().lines().filter(units::contains).toList();
            throw failure(
                    "these services failed before they were ready: " + String.join(", ", failed),
                    shownDiagnostics(failed));
        }
    }

    /// Without them the failure is still told.
    private Optional<JsonWriter> shownDiagnostics(List<String> failed) {
        try {
            return diagnostics(failed);
        } catch (Failure _) {
            return Optional.empty();
        }
    }

    private Optional<JsonWriter> diagnostics(List<String> failed) {
        var states = new TreeMap<String, JsonWriter>();
        var services = new LinkedHashMap<String, List<String>>();
        var logs =
                failed.stream()
                        .map(
                                unit -> {
                                    var status = systemd.status(unit);
                                    var key = status.activeState() + " " + status.subState();
                                    states.put(
                                            key,
                                            new JsonWriter()
                                                    .put("activeState", status.activeState())
                                                    .put("subState", status.subState()));
                                    services.computeIfAbsent(key, _ -> new java.util.ArrayList<>())
                                            .add(unit);
                                    return new JsonWriter()
                                            .put("unitName", unit)
                                            .put("log", log(unit));
                                })
                        .toList();
        states.forEach((key, json) -> json.put("services", services.get(key)));
        return Optional.of(
                new JsonWriter()
                        .put("serviceStates", states.values())
                        .put("failedServiceLogs", logs));
    }

    private String log(String unit) {
        return String.join(
                "\n",
                systemd.logs(unit, LOG_LINES, Optional.empty()).stream()
                        .map(JournalLine::message)
                        .toList());
    }

    private void step(String what, Script script) {
        Answer answer = shell.run(script, deadline);
        if (!answer.isSuccess()) {
            throw failure("could not %s: %s".formatted(what, answer.words()), Optional.empty());
        }
    }

    /// What systemd refuses is a failure of the set-up like any other.
    private void attempt(String what, Runnable act) {
        try {
            act.run();
        } catch (Failure e) {
            throw failure("could not %s: %s".formatted(what, e.getMessage()), Optional.empty());
        }
    }

    private Failure failure(String reason, Optional<JsonWriter> diagnostics) {
        return new Failure(
                Code.VM_SETUP_FAILED,
                "%s; the VM is removed".formatted(reason),
                Map.of(
                        "snapshotId", snapshot,
                        "failedReason", reason,
                        "diagnostics", diagnostics));
    }
}
