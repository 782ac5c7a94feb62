package coppice.guest;

import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;

/// A name in a directory: never empty, `.` or `..`, and without `/` and NUL, so that it can only be a name. It is otherwise as
/// the guest has it, except that bytes which are no UTF-8 are replacement characters: who shows it to people cleans it.
public record DirectoryEntry(String name, FileKind kind) {
    private static final int MAX_NAME = 4096;

    /// Entries stand one after the other, each as NAME, then KIND.
    static List<DirectoryEntry> parse(byte[] bytes) throws ProtocolException {
        var entries = new ArrayList<DirectoryEntry>();
        for (var fields : Fields.parseAll(bytes, Tag.NAME)) {
            entries.add(new DirectoryEntry(name(fields), FileKind.of(fields)));
        }
        return List.copyOf(entries);
    }

    private static String name(Fields fields) throws ProtocolException {
        var name = fields.text(Tag.NAME).orElse("");
        if (name.isEmpty()
                || name.length() > MAX_NAME
                || name.equals(".")
                || name.equals("..")
                || name.indexOf('/') >= 0
                || name.indexOf('\0') >= 0) {
            throw new ProtocolException("an entry of a directory has no name that can be one");
        }
        return name;
    }
}
