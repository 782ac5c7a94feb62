package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.api.Call;
import coppice.api.Output;
import coppice.api.Query;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.guest.NewTerminal;
import coppice.guest.TerminalDescription;
import coppice.guest.TerminalName;
import coppice.identity.AccountId;
import coppice.identity.LinuxUsers;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.vm.Terminals;
import coppice.vm.ViewRight;
import coppice.vm.Viewer;
import coppice.vm.VmId;
import coppice.vm.Vms;
import java.util.List;
import java.util.Optional;

/// The operations on terminals.
public final class TerminalRoutes {
    private static final int USUAL_COLUMNS = 80;
    private static final int USUAL_ROWS = 24;
    private static final String LINUX_USER = "linuxUser";
    private static final String SESSION = "/vms/{vm}/pty/sessions/{session}";

    private static final Schema SESSIONS =
            Schema.object("Terminals")
                    .field(
                            "sessions",
                            Schema.list(
                                    Schema.object("Terminal")
                                            .field(
                                                    "sessionId",
                                                    Schema.integer(),
                                                    ALWAYS,
                                                    "Counted per VM from 1.")
                                            .field(
                                                    "state",
                                                    Schema.word("running", "exited"),
                                                    ALWAYS,
                                                    "")
                                            .field(
                                                    "createdUnix",
                                                    Schema.integer(),
                                                    ALWAYS,
                                                    "Seconds since 1970.")
                                            .field("cols", Schema.integer(), ALWAYS, "")
                                            .field("rows", Schema.integer(), ALWAYS, "")
                                            .field(
                                                    "exitCode",
                                                    Schema.integer(),
                                                    OPTIONAL,
                                                    "Once it has exited; 128 and n for signal n.")
                                            .field("linuxUser", Schema.string(), ALWAYS, "")
                                            .field("slug", Schema.string(), OPTIONAL, "")),
                            ALWAYS,
                            "By their numbers.");

    private static final Schema CLOSED =
            Schema.object("ClosedTerminal")
                    .field("sessionId", Schema.integer(), ALWAYS, "")
                    .field(
                            "exitCode",
                            Schema.integer(),
                            OPTIONAL,
                            "If it had exited before it was closed.");

    private final Terminals terminals;
    private final VmRights rights;

    public TerminalRoutes(Terminals terminals, VmRights rights) {
        this.terminals = terminals;
        this.rights = rights;
    }

    public List<Route> routes() {
        return List.of(openRoute(), attachRoute(), listRoute(), closeRoute());
    }

    private Route openRoute() {
        return waking(
                        ofUser(
                                Route.v5(GET, "/vms/{vm}/pty", "openTerminal", this::open),
                                "Who it runs as; the image's ordinary user by default."),
                        "Open a terminal, or attach to the one that has the slug; wakes the VM")
                .query("exec", Schema.string(), "Run by `/bin/sh -c` in place of the login shell.")
                .query("cols", Schema.integer(1, TerminalFrame.MAX_SIDE), "80 by default.")
                .query("rows", Schema.integer(1, TerminalFrame.MAX_SIDE), "24 by default.")
                .query("slug", Schema.string(), "Its name: `[a-z0-9-]`, not only digits.")
                .query("replaceOnExit", Schema.bool(), "Start what runs in it again when it ends.")
                .returns(new Output.Upgrade());
    }

    private Route attachRoute() {
        return waking(
                        ofUser(
                                Route.v5(GET, SESSION, "attachTerminal", this::attach),
                                "Who it must run as."),
                        "Attach to a terminal; wakes the VM")
                .returns(new Output.Upgrade());
    }

    private Route listRoute() {
        return ofUser(
                        Route.v5(GET, "/vms/{vm}/pty/sessions", "listTerminals", this::list),
                        "Only terminals of this user.")
                .about("Terminals", "List terminals; does not wake the VM")
                .returns(SESSIONS)
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached");
    }

    private Route closeRoute() {
        return waking(
                        ofUser(
                                Route.v5(DELETE, SESSION, "closeTerminal", this::close),
                                "Who it must run as."),
                        "End what runs in a terminal and forget it")
                .returns(CLOSED);
    }

    private static Route ofUser(Route route, String text) {
        return route.query(LINUX_USER, Schema.string(), text)
                .fails(Code.LINUX_USER_NOT_ALLOWED, "the identity may act as others only")
                .forIdentities();
    }

    private static Route waking(Route route, String summary) {
        return route.about("Terminals", summary)
                .fails(Code.BAD_REQUEST, "the query is wrong, or the user does not exist")
                .fails(
                        Code.CONFLICT,
                        "the VM cannot be woken, the slug is another user's, or too many terminals")
                .fails(Code.AGENT_UNSUPPORTED, "the guest agent is too old")
                .fails(Code.UNAVAILABLE, "the guest agent cannot be reached")
                .fails(Code.VM_START_TIMEOUT, "the VM did not wake in time");
    }

    /// A VM and whose terminals in it the caller may use.
    private record Place(AccountId account, VmId vm, LinuxUsers users) {}

    private Reply open(Call call) {
        var place = place(call);
        var query = call.query();
        var user = user(query);
        place.users.check(LINUX_USER, user);
        var wanted =
                new NewTerminal(
                        query.text("exec"),
                        user,
                        side(query, "cols", USUAL_COLUMNS),
                        side(query, "rows", USUAL_ROWS),
                        query.text("slug").map(slug -> TerminalName.Slug.parse("slug", slug)),
                        query.bool("replaceOnExit").orElse(false));
        return view(terminals.open(place.account, place.vm.text(), wanted, right(call, place.vm)));
    }

    private Reply attach(Call call) {
        var place = place(call);
        return view(
                terminals.attach(
                        place.account,
                        place.vm.text(),
                        session(call),
                        whose(call, place),
                        right(call, place.vm)));
    }

    /// Both the credential and what was granted must go on.
    private ViewRight right(Call call, VmId vm) {
        var caller = call.caller();
        var stillAdmitted = call.stillAdmitted();
        return user -> stillAdmitted.getAsBoolean() && rights.allows(caller, vm.text(), user);
    }

    private static Reply view(Viewer viewer) {
        return Reply.upgrade(new TerminalSocket(viewer));
    }

    private Reply list(Call call) {
        var place = place(call);
        var sessions = terminals.list(place.account, place.vm.text(), whose(call, place));
        return Reply.ok(
                new JsonWriter()
                        .put("sessions", sessions.stream().map(TerminalRoutes::write).toList()));
    }

    private static JsonWriter write(TerminalDescription session) {
        return new JsonWriter()
                .put("sessionId", session.session())
                .put("state", session.end().isPresent() ? "exited" : "running")
                .put("createdUnix", session.created().getEpochSecond())
                .put("cols", session.columns())
                .put("rows", session.rows())
                .put("exitCode", session.end().map(TerminalFrame::exitCode))
                .put("linuxUser", session.user())
                .put("slug", session.slug().map(TerminalName.Slug::text));
    }

    private Reply close(Call call) {
        var place = place(call);
        var closed =
                terminals.close(place.account, place.vm.text(), session(call), whose(call, place));
        return Reply.ok(
                new JsonWriter()
                        .put("sessionId", closed.session())
                        .put("exitCode", closed.end().map(TerminalFrame::exitCode)));
    }

    /// The path comes before the rest: a VM that is not there is told first.
    private Place place(Call call) {
        var account = VmRoutes.account(call);
        var name = call.path("vm");
        var vm = terminals.named(account, name);
        return new Place(
                account, vm, rights.require(call.caller(), vm.text(), () -> Vms.absent(name)));
    }

    /// Those whom the query names, or all as whom the caller may act.
    private static LinuxUsers whose(Call call, Place place) {
        return place.users.narrowed(LINUX_USER, user(call.query()));
    }

    /// What cannot be a terminal's name is the name of none.
    private static TerminalName session(Call call) {
        try {
            return TerminalName.parse("session", call.path("session"));
        } catch (Failure e) {
            throw new Failure(Code.NOT_FOUND, "the VM has no such terminal; list its terminals", e);
        }
    }

    private static Optional<String> user(Query query) {
        var user = query.text(LINUX_USER);
        user.ifPresent(name -> LinuxUsers.requireName("query parameter " + LINUX_USER, name));
        return user;
    }

    private static int side(Query query, String name, int usual) {
        long side = query.integer(name).orElse((long) usual);
        if (side < 1 || side > TerminalFrame.MAX_SIDE) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "query parameter %s must be 1 to %d".formatted(name, TerminalFrame.MAX_SIDE));
        }
        return (int) side;
    }
}
