package coppice.dns;

import java.nio.ByteBuffer;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;

/// What is asked. Names are equal whatever their case, and keep it.
record Question(Name name, int type, int dclass) {
    private static final int TYPE_AND_CLASS = 4;

    Question(Name name, int type) {
        this(name, type, DClass.IN);
    }

    static Question of(Record question) {
        return new Question(question.getName(), question.getType(), question.getDClass());
    }

    Record toRecord() {
        return Record.newRecord(name, type, dclass);
    }

    /// As it stands in a message.
    byte[] bytes() {
        var bytes = name.toWire();
        return ByteBuffer.allocate(bytes.length + TYPE_AND_CLASS)
                .put(bytes)
                .putShort((short) type)
                .putShort((short) dclass)
                .array();
    }
}
