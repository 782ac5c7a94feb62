package coppice.dns;

import coppice.base.IpAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Name;
import org.xbill.DNS.NameTooLongException;
import org.xbill.DNS.PTRRecord;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.TextParseException;
import org.xbill.DNS.Type;

/// Answers about names that never leave the host: those of one label, those below `internal` and `localhost`, and the reverse names
/// of private addresses.
final class LocalAnswers {
    private static final Name INTERNAL = Name.fromConstantString("internal.");
    private static final Name LOCALHOST = Name.fromConstantString("localhost.");

    /// Names of VMs come and go, and to ask again costs little.
    private static final int TTL = 5;

    private final LocalNames names;

    LocalAnswers(LocalNames names) {
        this.names = names;
    }

    /// Whether a name is for this host alone to know.
    static boolean concern(Name name) {
        return isSingle(name)
                || name.subdomain(INTERNAL)
                || name.subdomain(LOCALHOST)
                || privateReverse(name).isPresent();
    }

    /// Empty: the name is not local.
    Optional<Answer> find(IpAddress client, Question question) {
        var name = question.name();
        if (!concern(name)) {
            return Optional.empty();
        }
        if (name.equals(INTERNAL)) {
            return Optional.of(found(question, Stream.of()));
        }
        if (isSingle(name) || isBelow(INTERNAL, name)) {
            return Optional.of(address(client, question));
        }
        return Optional.of(
                privateReverse(name)
                        .map(reverse -> pointer(client, question, reverse))
                        .orElseGet(() -> absent(question)));
    }

    private static boolean isBelow(Name domain, Name name) {
        return name.subdomain(domain) && name.labels() == domain.labels() + 1;
    }

    private static Optional<ReverseName> privateReverse(Name name) {
        return ReverseName.parse(name).filter(reverse -> PrivateAddresses.contain(reverse.range()));
    }

    /// The root counts as a label.
    private static boolean isSingle(Name name) {
        return name.labels() == 2;
    }

    private Answer address(IpAddress client, Question question) {
        var label = new Name(question.name(), 0).canonicalize().getLabelString(0);
        return names.addresses(client, label)
                .map(addresses -> found(question, addresses(question, addresses)))
                .orElseGet(() -> absent(question));
    }

    private static Stream<Record> addresses(Question question, List<IpAddress> all) {
        return all.stream()
                .filter(address -> question.type() == (address.isV6() ? Type.AAAA : Type.A))
                .map(
                        address ->
                                Record.newRecord(
                                        question.name(),
                                        question.type(),
                                        DClass.IN,
                                        TTL,
                                        address.bytes()));
    }

    private Answer pointer(IpAddress client, Question question, ReverseName reverse) {
        return reverse.address()
                .flatMap(address -> names.nameOf(client, address))
                .flatMap(LocalAnswers::internal)
                .map(
                        target ->
                                found(
                                        question,
                                        Stream.of(question)
                                                .filter(asked -> asked.type() == Type.PTR)
                                                .map(asked -> pointer(asked, target))))
                .orElseGet(() -> absent(question));
    }

    private static Record pointer(Question question, Name target) {
        return new PTRRecord(question.name(), DClass.IN, TTL, target);
    }

    /// Empty: the label is none for DNS.
    private static Optional<Name> internal(String label) {
        try {
            return Optional.of(Name.concatenate(Name.fromString(label), INTERNAL));
        } catch (TextParseException | NameTooLongException _) {
            return Optional.empty();
        }
    }

    private static Answer found(Question question, Stream<Record> records) {
        return Answer.local(question, Rcode.NOERROR, records.toList());
    }

    private static Answer absent(Question question) {
        return Answer.local(question, Rcode.NXDOMAIN, List.of());
    }
}
