package coppice.dns;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.xbill.DNS.ExtendedFlags;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/// An answer that is ready but for what depends on who asks, and when: it is kept as bytes, so that it can be counted and takes little,
/// and is not read again when it is given.
final class Answer {
    /// The largest datagram that we send and take, and say so: it passes everywhere in one piece.
    static final int DATAGRAM = 1232;

    private static final int EDNS_LENGTH = 11;
    private static final int RCODE_SHIFT = 4;
    private static final int COUNTS = 4;

    private final byte[] message;
    private final int[] ttls;
    private final int rcode;
    private final int authoritative;

    private Answer(byte[] message, int[] ttls, int rcode, int authoritative) {
        this.message = message;
        this.ttls = ttls;
        this.rcode = rcode;
        this.authoritative = authoritative;
    }

    /// One about a local name.
    static Answer local(Question question, int rcode, List<Record> records) {
        return of(question, rcode, Head.AUTHORITATIVE, records, List.of());
    }

    /// One that others gave.
    static Answer foreign(
            Question question, int rcode, List<Record> answers, List<Record> authorities) {
        return of(question, rcode, 0, answers, authorities);
    }

    /// One without records.
    ///
    /// @param rcode also one that only the extensions have room for
    static Answer empty(Question question, int rcode) {
        return of(question, rcode, 0, List.of(), List.of());
    }

    /// More than any message has room for is a failure.
    private static Answer of(
            Question question,
            int rcode,
            int authoritative,
            List<Record> answers,
            List<Record> authorities) {
        var rendering = new Rendering(question);
        boolean fits =
                answers.stream().allMatch(record -> rendering.add(record, Section.ANSWER))
                        && authorities.stream()
                                .allMatch(record -> rendering.add(record, Section.AUTHORITY));
        return fits
                ? new Answer(rendering.bytes(), rendering.ttls(), rcode, authoritative)
                : empty(question, Rcode.SERVFAIL);
    }

    /// What is answered to a query that cannot be read.
    static byte[] refusal(Head head, int rcode) {
        return ByteBuffer.allocate(Head.LENGTH)
                .putShort((short) head.id())
                .putShort((short) (flags(head) | rcode))
                .array();
    }

    int rcode() {
        return rcode;
    }

    int length() {
        return message.length + ttls.length * Integer.BYTES;
    }

    /// The message to a client. What does not fit is left out whole: the client then comes by TCP.
    ///
    /// @param room how long it may be
    /// @param age by which the records live less long
    byte[] to(Query query, int room, Duration age) {
        int extensions = query.edns().isPresent() ? EDNS_LENGTH : 0;
        boolean fits = message.length + extensions <= room;
        return fits
                ? message(query, message.length + extensions, age)
                : truncated(query, extensions);
    }

    /// The word to come by TCP.
    static byte[] truncated(Query query) {
        return empty(query.question(), Rcode.NOERROR)
                .truncated(query, query.edns().isPresent() ? EDNS_LENGTH : 0);
    }

    private byte[] truncated(Query query, int extensions) {
        int length = Head.LENGTH + query.question().bytes().length;
        var bare = new Answer(Arrays.copyOf(message, length), new int[0], rcode, authoritative);
        var bytes = bare.message(query, length + extensions, Duration.ZERO);
        var out = ByteBuffer.wrap(bytes);
        out.putShort(Short.BYTES, (short) (out.getShort(Short.BYTES) | Head.TRUNCATED));
        for (int section : new int[] {Section.ANSWER, Section.AUTHORITY}) {
            out.putShort(COUNTS + section * Short.BYTES, (short) 0);
        }
        return bytes;
    }

    private byte[] message(Query query, int length, Duration age) {
        var out = ByteBuffer.wrap(Arrays.copyOf(message, length));
        out.putShort((short) query.head().id());
        out.putShort((short) (flags(query.head()) | authoritative | rcode & Head.RCODE));
        // Equal names are equally long, and whatever points into this one does not mind its case.
        out.put(Head.LENGTH, query.question().bytes());
        for (int at : ttls) {
            out.putInt(at, (int) Math.max(0, out.getInt(at) - age.toSeconds()));
        }
        query.edns().ifPresent(edns -> extend(out, edns));
        return out.array();
    }

    private void extend(ByteBuffer out, Query.Edns edns) {
        out.putShort(COUNTS + Section.ADDITIONAL * Short.BYTES, (short) 1);
        out.position(message.length);
        out.put((byte) 0);
        out.putShort((short) Type.OPT);
        out.putShort((short) DATAGRAM);
        out.put((byte) (rcode >>> RCODE_SHIFT));
        out.put((byte) 0);
        out.putShort((short) (edns.wantsSignatures() ? ExtendedFlags.DO : 0));
        out.putShort((short) 0);
    }

    private static int flags(Head head) {
        int kept = Head.OPCODE | Head.RECURSION_DESIRED | Head.CHECKING_DISABLED;
        return Head.RESPONSE | Head.RECURSION_AVAILABLE | head.flags() & kept;
    }
}
