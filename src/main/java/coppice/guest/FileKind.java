package coppice.guest;

import java.net.ProtocolException;

/// What stands at a path, in the order of the numbers on the wire, which begin at 1.
public enum FileKind {
    FILE,
    DIRECTORY,
    SYMBOLIC_LINK,
    OTHER;

    private static final FileKind[] ALL = values();

    int code() {
        return ordinal() + 1;
    }

    static FileKind of(Fields fields) throws ProtocolException {
        long code = fields.number(Tag.KIND, ALL.length);
        if (code == 0) {
            throw new ProtocolException("field KIND is missing or out of range");
        }
        return ALL[(int) code - 1];
    }
}
