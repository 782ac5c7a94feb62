package coppice.api.legacy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Unit files of systemd, written so that it reads back exactly what was given (systemd.syntax(7), systemd.unit(5), systemd.service(5)).
///
/// A command is given to the shell as one argument: in it nothing is special to systemd, and everything is what it is in a shell.
/// Values have no line breaks and no other control characters but tabs: [ServiceFields] has seen to that.
final class UnitFile {
    private static final String USUAL_RESTART = "on-failure";
    private static final int USUAL_RESTART_SECONDS = 1;

    private final Service service;
    private final boolean isOfUser;
    private final List<String> lines = new ArrayList<>();

    private UnitFile(Service service, boolean isOfUser) {
        this.service = service;
        this.isOfUser = isOfUser;
    }

    /// A new unit.
    ///
    /// @param isOfUser whether it is for the manager of a user, whose units have no user of their own
    /// @param workdir where it runs when it does not say; absent: where systemd has it
    static String unit(Service service, boolean isOfUser, Optional<String> workdir) {
        var file = new UnitFile(service, isOfUser);
        file.lines.add("[Unit]");
        file.lines.add("Description=" + service.name());
        file.putBonds();
        file.lines.add("[Service]");
        file.putType();
        file.putCommands();
        file.putProgram(workdir);
        file.putBehaviour();
        file.putRestart();
        file.lines.add("[Install]");
        var wanted = service.bonds().wantedBy();
        var usual = isOfUser ? "default.target" : "multi-user.target";
        file.putAll("WantedBy", wanted.isEmpty() ? List.of(usual) : wanted);
        return file.text();
    }

    /// What is changed of a unit that exists, as a drop-in beside it.
    static String dropIn(Service service) {
        var file = new UnitFile(service, false);
        file.lines.add("[Unit]");
        file.putBonds();
        file.lines.add("[Service]");
        if (service.mode().isPresent() || service.behaviour().isReadyBySignal()) {
            file.putType();
        }
        if (!service.program().exec().isEmpty()) {
            file.lines.add("ExecStartPre="); // an empty one takes back those of the unit itself
            file.lines.add("ExecStart=");
            file.putCommands();
        }
        file.putProgram(Optional.empty());
        file.putBehaviour();
        file.putRestart();
        file.lines.add("[Install]");
        file.putAll("WantedBy", service.bonds().wantedBy());
        return file.text();
    }

    private void putBonds() {
        putAll("After", service.bonds().after());
        putAll("Requires", service.bonds().requires());
        putAll("OnFailure", service.bonds().onFailure());
        service.behaviour()
                .restart()
                .ifPresent(
                        restart -> {
                            put("StartLimitBurst", restart.limitBurst());
                            put("StartLimitIntervalSec", restart.limitSeconds());
                        });
    }

    /// A oneshot is ready when it has ended; it has no other signal.
    private void putType() {
        if (service.isOneshot()) {
            lines.add("Type=oneshot");
        } else if (service.behaviour().isReadyBySignal()) {
            lines.add("Type=notify");
            lines.add("NotifyAccess=all"); // the shell may stand between
        } else {
            lines.add("Type=simple");
        }
    }

    private void putCommands() {
        var commands = service.program().exec();
        for (int i = 0; i < commands.size(); i++) {
            boolean isBefore = !service.isOneshot() && i < commands.size() - 1;
            lines.add((isBefore ? "ExecStartPre=" : "ExecStart=") + shell(commands.get(i)));
        }
    }

    private void putProgram(Optional<String> workdir) {
        var program = service.program();
        program.environment()
                .forEach((name, value) -> lines.add("Environment=" + quote(name + "=" + value)));
        if (!isOfUser) {
            put("User", program.user().map(UnitFile::plain));
            put("Group", program.group().map(UnitFile::plain));
        }
        put("WorkingDirectory", program.workdir().or(() -> workdir).map(UnitFile::plain));
    }

    private void putBehaviour() {
        var behaviour = service.behaviour();
        var timeout = behaviour.timeoutSeconds().map(s -> s == 0 ? "infinity" : s.toString());
        put("TimeoutStartSec", timeout);
        put("TimeoutStopSec", timeout);
        put("WatchdogSec", behaviour.watchdogSeconds());
        if (service.isOneshot()) {
            boolean remains =
                    behaviour.remainAfterExit().orElse(true) && !behaviour.deleteAfterSuccess();
            lines.add("RemainAfterExit=" + (remains ? "yes" : "no"));
        }
        if (behaviour.deleteAfterSuccess()) {
            lines.add("ExecStopPost=" + (isOfUser ? "" : "+") + shell(removal()));
        }
    }

    private void putRestart() {
        var restart = service.behaviour().restart();
        if (restart.isPresent()) {
            put("Restart", restart.map(Service.Restart::policy));
            put("RestartSec", restart.get().seconds());
        } else if (service.mode().equals(Optional.of(Service.Mode.SERVICE))) {
            lines.add("Restart=" + USUAL_RESTART);
            lines.add("RestartSec=" + USUAL_RESTART_SECONDS);
        }
    }

    /// Has the unit remove itself when it has done its work.
    private String removal() {
        var manager = isOfUser ? "--user" : "--system";
        var directory = isOfUser ? "$HOME/.config/systemd/user" : "/etc/systemd/system";
        return "[ \"$SERVICE_RESULT\" != success ] || { systemctl %s --no-reload disable \"%s\";"
                        .formatted(manager, service.unit())
                + " rm -f \"%s/%s\"; systemctl %s --no-block daemon-reload; }"
                        .formatted(directory, service.unit(), manager);
    }

    private void put(String setting, Optional<?> value) {
        value.ifPresent(v -> lines.add(setting + "=" + v));
    }

    private void putAll(String setting, List<String> units) {
        units.forEach(unit -> lines.add(setting + "=" + unit));
    }

    private String text() {
        return String.join("\n", lines) + "\n";
    }

    private static String shell(String command) {
        return "/bin/sh -c " + quote(command).replace("$", "$$");
    }

    /// One word, whatever is in it.
    private static String quote(String text) {
        return "\""
                + plain(text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\t", "\\t"))
                + "\"";
    }

    /// Where systemd takes the line as it is, but for its specifiers.
    private static String plain(String text) {
        return text.replace("%", "%%");
    }
}
