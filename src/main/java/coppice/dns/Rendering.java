package coppice.dns;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.xbill.DNS.CNAMERecord;
import org.xbill.DNS.DNSOutput;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;

/// Writes a message. Names that own records are written once; the library shortens more, in a time that grows with the square of what a
/// stranger sends.
final class Rendering {
    private static final int COUNTS = 4;
    private static final int POINTER = 0xc000;
    private static final int MAX_POINTED = 0x3fff;
    private static final int TTL_AT = 4;
    private static final int DATA_AT = 10;

    private final Map<Name, Integer> places = new HashMap<>();
    private final List<Integer> ttls = new ArrayList<>();
    private final int[] counts = new int[Section.ADDITIONAL];
    private final DNSOutput out = new DNSOutput();

    Rendering(Question question) {
        out.writeByteArray(new byte[Head.LENGTH]);
        remember(question.name(), out.current());
        out.writeByteArray(question.bytes());
        count(Section.QUESTION);
    }

    /// Whether there was room for it.
    boolean add(Record record, int section) {
        var name = record.getName();
        var bytes = record.toWire(section);
        int rest = bytes.length - name.length();
        var place = places.get(name);
        boolean isShort = place != null && name.length() > Short.BYTES;
        int owner = isShort ? Short.BYTES : name.length();
        if (out.current() + owner + rest > Message.MAXLENGTH) {
            return false;
        }
        if (isShort) {
            out.writeU16(POINTER | place);
        } else {
            remember(name, out.current());
            out.writeByteArray(bytes, 0, name.length());
        }
        ttls.add(out.current() + TTL_AT);
        if (record instanceof CNAMERecord alias) {
            remember(alias.getTarget(), out.current() + DATA_AT);
        }
        out.writeByteArray(bytes, name.length(), rest);
        count(section);
        return true;
    }

    private void remember(Name name, int place) {
        if (place <= MAX_POINTED) {
            places.putIfAbsent(name, place);
        }
    }

    private void count(int section) {
        counts[section]++;
        out.writeU16At(counts[section], COUNTS + section * Short.BYTES);
    }

    /// The message, with zeros for number and flags.
    byte[] bytes() {
        return out.toByteArray();
    }

    /// Where the times to live stand in it.
    int[] ttls() {
        return ttls.stream().mapToInt(Integer::intValue).toArray();
    }
}
