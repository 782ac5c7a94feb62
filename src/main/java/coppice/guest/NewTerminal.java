package coppice.guest;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Optional;

/// A terminal that is to be opened: what runs in it by `sh -c`, or else the login shell, of `user`, or else the image's ordinary
/// user. If the `slug` is that of a session, that one is attached to, as it is. With `respawn`, another process takes the place
/// of one that ends.
public record NewTerminal(
        Optional<String> command,
        Optional<String> user,
        int columns,
        int rows,
        Optional<TerminalName.Slug> slug,
        boolean respawn) {
    static final int MAX_SIDE = 1000;

    /// Refuses as BAD_REQUEST what no terminal can be.
    public NewTerminal {
        command.ifPresent(text -> Exec.requireNoNul("the command", text));
        user.ifPresent(name -> Exec.requireNoNul("the user", name));
        requireSize(columns, rows);
    }

    static void requireSize(int columns, int rows) {
        if (columns < 1 || columns > MAX_SIDE || rows < 1 || rows > MAX_SIDE) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "a terminal has 1 to %d columns and rows, not %d and %d"
                            .formatted(MAX_SIDE, columns, rows));
        }
    }

    FieldsWriter fields() {
        var fields = Request.fields("pty.open").number(Tag.COLUMNS, columns).number(Tag.ROWS, rows);
        command.ifPresent(text -> fields.text(Tag.COMMAND, text));
        user.ifPresent(name -> fields.text(Tag.USER, name));
        slug.ifPresent(name -> fields.text(Tag.SLUG, name.text()));
        if (respawn) {
            fields.number(Tag.RESPAWN, 1);
        }
        return fields;
    }
}
