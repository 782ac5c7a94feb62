package coppice.api.legacy;

import static coppice.api.Method.GET;
import static coppice.json.Presence.ALWAYS;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalName;
import coppice.identity.LinuxUsers;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Terminals;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/// The legacy views of terminals. To list wakes no VM; what a terminal said is in its guest, so to read that does.
public final class LegacyTerminalRoutes {
    private static final String TERMINALS = "/v1/vms/{vm_id}/terminals";
    private static final String TERMINAL = TERMINALS + "/{terminal_id}";

    /// The last lines, of which each becomes an object of its own.
    private static final int MAX_LINES = 50_000;

    private static final Schema LIST =
            Schema.object("LegacyTerminals")
                    .field(
                            "terminals",
                            Schema.list(
                                    Schema.object("LegacyTerminal")
                                            .field("name", Schema.string(), ALWAYS, "")
                                            .field(
                                                    "status",
                                                    Schema.word("running", "exited"),
                                                    ALWAYS,
                                                    "")
                                            .field("created", Schema.time(), ALWAYS, "")),
                            ALWAYS,
                            "");

    private static final Schema LOGS =
            Schema.object("LegacyTerminalLogs")
                    .field(
                            "logs",
                            Schema.list(
                                    Schema.object("LegacyTerminalLine")
                                            .field("line", Schema.string(), ALWAYS, "")
                                            .field(
                                                    "timestamp",
                                                    Schema.time().orNull(),
                                                    ALWAYS,
                                                    "Not known.")),
                            ALWAYS,
                            "Without escape sequences.");

    private static final Schema OUTPUT =
            Schema.object("LegacyTerminalOutput")
                    .field("output", Schema.string(), ALWAYS, "As the terminal got it.");

    private final Vms vms;
    private final Terminals terminals;
    private final LinuxUserHeader user;
    private final VmRights rights;

    /// @param brand the word inside header names
    public LegacyTerminalRoutes(Vms vms, Terminals terminals, String brand, VmRights rights) {
        this.rights = rights;
        this.vms = vms;
        this.terminals = terminals;
        this.user = new LinuxUserHeader(brand);
    }

    public List<Route> routes() {
        return List.of(
                Route.legacy(GET, TERMINALS, "legacyListTerminals", this::list)
                        .about("Legacy", "List the terminals of a VM")
                        .returns(LIST)
                        .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                        .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                        .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                        .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                        .forIdentities(),
                view("/logs", "legacyTerminalLogs", "Show what a terminal said, as lines", LOGS),
                view("/xterm-256color", "legacyTerminalOutput", "Show all it said", OUTPUT));
    }

    private Route view(String path, String id, String summary, Schema shape) {
        var isLogs = path.equals("/logs");
        return Route.legacy(
                        GET,
                        TERMINAL + path,
                        id,
                        call -> {
                            var output = output(call);
                            return Reply.ok(isLogs ? logs(output) : raw(output));
                        })
                .about("Legacy", summary + "; wakes the VM")
                .returns(shape)
                .fails(Code.VM_NOT_FOUND, "absent, or of another account")
                .fails(Code.NOT_FOUND, "the terminal is absent, or another user's")
                .fails(Code.CONFLICT, "the VM cannot be woken")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                .forIdentities();
    }

    private Reply list(Call call) {
        try {
            var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
            var found = terminals.list(vm.account(), vm.id().text(), whose(call, vm));
            return Reply.ok(
                    new JsonWriter()
                            .put(
                                    "terminals",
                                    found.stream().map(LegacyTerminalRoutes::write).toList()));
        } catch (Failure e) {
            throw LegacyFailures.naming(e, call.path("vm_id"));
        }
    }

    private static JsonWriter write(TerminalDescription terminal) {
        return new JsonWriter()
                .put(
                        "name",
                        terminal.slug()
                                .map(TerminalName.Slug::text)
                                .orElse(Long.toString(terminal.session())))
                .put("status", terminal.end().isPresent() ? "exited" : "running")
                .put("created", terminal.created());
    }

    private String output(Call call) {
        var vm = LegacyVms.named(vms, LegacyVmRoutes.account(call), call.path("vm_id"));
        var bytes =
                terminals.scrollback(
                        vm.account(),
                        vm.id().text(),
                        name(call.path("terminal_id")),
                        whose(call, vm));
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private LinuxUsers whose(Call call, Vm vm) {
        return user.narrow(LegacyVms.users(rights, call, vm), call);
    }

    /// What cannot be a terminal's name is the name of none.
    private static TerminalName name(String text) {
        try {
            return TerminalName.parse("terminal", text);
        } catch (Failure e) {
            throw new Failure(Code.NOT_FOUND, "the VM has no such terminal; list its terminals", e);
        }
    }

    private static JsonWriter logs(String output) {
        var lines = PlainLines.of(output);
        return new JsonWriter()
                .put(
                        "logs",
                        lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size()).stream()
                                .map(
                                        line ->
                                                new JsonWriter()
                                                        .put("line", line)
                                                        .putOrNull("timestamp", Optional.empty()))
                                .toList());
    }

    private static JsonWriter raw(String output) {
        return new JsonWriter().put("output", output);
    }
}
