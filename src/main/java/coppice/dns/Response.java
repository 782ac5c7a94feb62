package coppice.dns;

import coppice.base.IpAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.xbill.DNS.AAAARecord;
import org.xbill.DNS.ARecord;
import org.xbill.DNS.CNAMERecord;
import org.xbill.DNS.DClass;
import org.xbill.DNS.DNAMERecord;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.SOARecord;
import org.xbill.DNS.SVCBBase;
import org.xbill.DNS.Section;

/// A message from upstream.
record Response(Message message) {
    private static final long MAX_TTL = Integer.MAX_VALUE;
    private static final int V4_LENGTH = IpAddress.V4_BITS / Byte.SIZE;
    private static final int V6_LENGTH = IpAddress.V6_BITS / Byte.SIZE;

    /// Whether it is about a question that was sent under this number. One that only says what is wrong may lack the question.
    boolean isAbout(int id, Question question) {
        var head = message.getHeader();
        boolean isResponse =
                head.getID() == id && head.getFlag(Flags.QR) && head.getOpcode() == Opcode.QUERY;
        var asked = message.getSection(Section.QUESTION).stream().map(Question::of).toList();
        return isResponse && (asked.equals(List.of(question)) || asked.isEmpty() && !isFinal());
    }

    boolean isTruncated() {
        return message.getHeader().getFlag(Flags.TC);
    }

    /// Whether another server has nothing to add.
    boolean isFinal() {
        return message.getRcode() == Rcode.NOERROR || message.getRcode() == Rcode.NXDOMAIN;
    }

    /// Whether it comes from a server that may not know the extensions.
    boolean isPuzzled() {
        return message.getRcode() == Rcode.FORMERR || message.getRcode() == Rcode.NOTIMP;
    }

    /// What clients get of it: no additional records, and nothing that leads inside if that is to be stripped.
    Found found(Question question, boolean stripsPrivate, ResolverSettings.CacheBounds bounds) {
        var answer =
                Answer.foreign(
                        question,
                        message.getHeader().getRcode(),
                        kept(Section.ANSWER, stripsPrivate),
                        kept(Section.AUTHORITY, stripsPrivate));
        return new Found(answer, lifetime(question, bounds));
    }

    private List<Record> kept(int section, boolean stripsPrivate) {
        return records(section).filter(record -> !stripsPrivate || isPublic(record)).toList();
    }

    private Stream<Record> records(int section) {
        return message.getSection(section).stream()
                .filter(record -> record.getDClass() == DClass.IN);
    }

    private Duration lifetime(Question question, ResolverSettings.CacheBounds bounds) {
        boolean isPositive =
                records(Section.ANSWER).anyMatch(record -> record.getType() == question.type());
        long least =
                Stream.of(Section.ANSWER, Section.AUTHORITY)
                        .flatMap(this::records)
                        .mapToLong(record -> ttl(record.getTTL()))
                        .min()
                        .orElse(0);
        long most = isPositive ? bounds.maxTtl().toSeconds() : negative(bounds.maxNegativeTtl());
        return Duration.ofSeconds(Math.min(least, most));
    }

    /// RFC 2308: that there is nothing holds as long as the zone's SOA record says, and without one must not be kept.
    private long negative(Duration most) {
        var minima =
                records(Section.AUTHORITY)
                        .filter(SOARecord.class::isInstance)
                        .mapToLong(record -> ttl(((SOARecord) record).getMinimum()))
                        .toArray();
        return minima.length == 0
                ? 0
                : LongStream.concat(LongStream.of(most.toSeconds()), LongStream.of(minima))
                        .min()
                        .getAsLong();
    }

    /// RFC 2181: with the highest bit set it counts as 0.
    private static long ttl(long seconds) {
        return seconds > MAX_TTL ? 0 : seconds;
    }

    private static boolean isPublic(Record record) {
        return addresses(record).noneMatch(PrivateAddresses::contain)
                && names(record).noneMatch(LocalAnswers::concern);
    }

    /// The addresses that a record has a program connect to.
    private static Stream<IpAddress> addresses(Record record) {
        return switch (record) {
            case ARecord a -> addresses(a.rdataToWireCanonical(), V4_LENGTH);
            case AAAARecord a -> addresses(a.rdataToWireCanonical(), V6_LENGTH);
            case SVCBBase service ->
                    Stream.concat(
                            hints(service, SVCBBase.IPV4HINT, V4_LENGTH),
                            hints(service, SVCBBase.IPV6HINT, V6_LENGTH));
            default -> Stream.of();
        };
    }

    /// The names that a record has a program look up instead of the one that it asked for.
    private static Stream<Name> names(Record record) {
        return switch (record) {
            case CNAMERecord alias -> Stream.of(alias.getTarget());
            case DNAMERecord alias -> Stream.of(alias.getTarget());
            case SVCBBase service -> Stream.of(service.getTargetName());
            default -> Stream.of();
        };
    }

    private static Stream<IpAddress> hints(SVCBBase service, int key, int length) {
        return Stream.ofNullable(service.getSvcParamValue(key))
                .flatMap(hint -> addresses(hint.toWire(), length));
    }

    /// Read from the bytes: Java's addresses make IPv4 ones of mapped ones.
    private static Stream<IpAddress> addresses(byte[] bytes, int length) {
        return IntStream.range(0, bytes.length / length)
                .mapToObj(
                        i -> {
                            var address = new byte[length];
                            ByteBuffer.wrap(bytes).get(i * length, address);
                            return IpAddress.of(address);
                        });
    }
}
