package coppice.guest;

import java.net.ProtocolException;

/// Something that happened to a path. The path is absolute and as the guest has it: who shows it to people cleans it.
public record FileEvent(Kind kind, String path) {

    /// In the order of the numbers on the wire, which begin at 1.
    public enum Kind {
        CREATE,
        MODIFY,
        DELETE,
        RENAME;

        private static final Kind[] ALL = values();

        int code() {
            return ordinal() + 1;
        }
    }

    static FileEvent of(Fields fields) throws ProtocolException {
        long code = fields.number(Tag.EVENT, Kind.ALL.length);
        var path = fields.text(Tag.PATH).orElse("");
        if (code == 0 || !path.startsWith("/") || path.indexOf('\0') >= 0) {
            throw new ProtocolException("an event is none, or has no absolute path");
        }
        return new FileEvent(Kind.ALL[(int) code - 1], path);
    }
}
