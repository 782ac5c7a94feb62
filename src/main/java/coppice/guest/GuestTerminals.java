package coppice.guest;

import coppice.base.Deadline;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// The terminals of a guest. A session belongs to the guest: it outlives every stream, connection and server.
///
/// Fails with NOT_FOUND (no such session, or it is another's than the user given), BAD_REQUEST, CONFLICT (the slug is another
/// user's, or there are 64 sessions), UNAVAILABLE (also when it was not done by the deadline), AGENT_UNSUPPORTED.
public final class GuestTerminals {
    private static final int MAX_LISTING = 256 * 1024;

    private final Agent agent;

    GuestTerminals(Agent agent) {
        this.agent = agent;
    }

    /// Attaches to the session of the slug, or makes one; returns when its process runs.
    public TerminalStream open(NewTerminal terminal, Deadline deadline) {
        var subject = terminal.slug().map(slug -> "terminal " + slug).orElse("terminal");
        return TerminalStream.begin(
                new TerminalRequest(agent, "pty.open", subject), terminal.fields(), deadline);
    }

    /// Attaches to a session; of `user`, if one is given. Output comes from the offset on, if that is still kept, else from the
    /// oldest that is.
    public TerminalStream attach(
            TerminalName terminal, Optional<String> user, OptionalLong offset, Deadline deadline) {
        var fields = Request.fields("pty.attach");
        switch (terminal) {
            case TerminalName.Number(long number) -> fields.number(Tag.SESSION, number);
            case TerminalName.Slug(var text) -> fields.text(Tag.SLUG, text);
        }
        of(user, fields);
        offset.ifPresent(from -> fields.number(Tag.OFFSET, from));
        return TerminalStream.begin(
                new TerminalRequest(agent, "pty.attach", "terminal " + terminal), fields, deadline);
    }

    /// All sessions, ended ones included, in no order.
    public List<TerminalDescription> list(Deadline deadline) {
        var request = new TerminalRequest(agent, "pty.list", "terminals");
        var bytes =
                agent.gather(
                        request.operation(),
                        Request.fields(request.operation()),
                        MAX_LISTING,
                        request::refused,
                        deadline);
        return agent.reading(() -> descriptions(bytes));
    }

    public void resize(
            long session, Optional<String> user, int columns, int rows, Deadline deadline) {
        NewTerminal.requireSize(columns, rows);
        var fields = fields("pty.resize", session, user);
        call(
                "pty.resize",
                session,
                fields.number(Tag.COLUMNS, columns).number(Tag.ROWS, rows),
                deadline);
    }

    /// Sends 2 (SIGINT) to the foreground process group, or 9 (SIGKILL) to all process groups of the session.
    public void signal(long session, Optional<String> user, int signal, Deadline deadline) {
        var fields = fields("pty.signal", session, user).number(Tag.SIGNAL, signal);
        call("pty.signal", session, fields, deadline);
    }

    /// Ends what runs and forgets the session; how it ended, if it had before.
    public Optional<TerminalEnd> close(long session, Optional<String> user, Deadline deadline) {
        var result = call("pty.close", session, fields("pty.close", session, user), deadline);
        return agent.reading(() -> TerminalEnd.of(result));
    }

    private Fields call(String operation, long session, FieldsWriter fields, Deadline deadline) {
        var request = new TerminalRequest(agent, operation, "terminal " + session);
        return agent.call(operation, fields, request::refused, deadline);
    }

    private static FieldsWriter fields(String operation, long session, Optional<String> user) {
        return of(user, Request.fields(operation).number(Tag.SESSION, session));
    }

    private static FieldsWriter of(Optional<String> user, FieldsWriter fields) {
        user.ifPresent(name -> Exec.requireNoNul("the user", name));
        user.ifPresent(name -> fields.text(Tag.USER, name));
        return fields;
    }

    private static List<TerminalDescription> descriptions(byte[] bytes) throws ProtocolException {
        var terminals = new ArrayList<TerminalDescription>();
        for (var fields : Fields.parseAll(bytes, Tag.SESSION)) {
            terminals.add(TerminalDescription.of(fields));
        }
        return List.copyOf(terminals);
    }
}
