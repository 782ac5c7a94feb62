package coppice.guest;

import java.net.ProtocolException;
import java.time.Instant;
import java.util.Optional;

/// A session of a guest, as the guest describes it. The user is safe to show. `end` is there once it has ended.
public record TerminalDescription(
        long session,
        Optional<TerminalName.Slug> slug,
        String user,
        int columns,
        int rows,
        Instant created,
        Optional<TerminalEnd> end) {

    static TerminalDescription of(Fields fields) throws ProtocolException {
        long session = fields.number(Tag.SESSION, Long.MAX_VALUE);
        var slug = fields.text(Tag.SLUG);
        if (session == 0 || slug.filter(text -> !TerminalName.Slug.isSlug(text)).isPresent()) {
            throw new ProtocolException("a terminal has a number or a slug that none can have");
        }
        return new TerminalDescription(
                session,
                slug.map(TerminalName.Slug::new),
                fields.text(Tag.USER)
                        .map(GuestText::clean)
                        .orElseThrow(() -> new ProtocolException("a terminal has no user")),
                side(fields, Tag.COLUMNS),
                side(fields, Tag.ROWS),
                FileDescription.instant(fields, Tag.CREATED),
                TerminalEnd.of(fields));
    }

    private static int side(Fields fields, Tag tag) throws ProtocolException {
        return (int) fields.number(tag, NewTerminal.MAX_SIDE);
    }
}
