package coppice.guest;

import java.util.List;
import java.util.Optional;

/// What one stream asks for. `body` goes out on channel 0; the answer's data comes in by `inlets`, which are the channels from 1 upwards.
/// `monitor` guards both.
record Request(
        String operation,
        byte[] fields,
        Optional<Outlet> body,
        List<Inlet> inlets,
        Monitor monitor) {
    static final int MAX_FIELDS = 2 << 20;

    Request {
        inlets = List.copyOf(inlets);
    }

    /// Body and inlets are nobody else's.
    Request(String operation, byte[] fields, Optional<Outlet> body, List<Inlet> inlets) {
        this(operation, fields, body, inlets, new Monitor());
    }

    static Request plain(String operation, FieldsWriter fields) {
        return new Request(operation, fields.toBytes(), Optional.empty(), List.of());
    }

    static FieldsWriter fields(String operation) {
        return new FieldsWriter().text(Tag.OPERATION, operation);
    }
}
