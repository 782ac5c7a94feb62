package coppice.dns;

import java.io.IOException;
import java.util.Optional;
import org.xbill.DNS.ExtendedFlags;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Section;

/// A query of a client.
record Query(Head head, Question question, Optional<Edns> edns) {

    /// The extensions that a client speaks (RFC 6891).
    ///
    /// @param room for a datagram, as the client says
    /// @param wantsSignatures whether answers should carry what DNSSEC is checked with
    record Edns(int version, int room, boolean wantsSignatures) {}

    /// Empty: it is malformed.
    static Optional<Query> parse(Head head, byte[] bytes) {
        if (!head.isOfQuery()) {
            return Optional.empty();
        }
        try {
            var message = new Message(bytes);
            var extensions =
                    message.getSection(Section.ADDITIONAL).stream()
                            .filter(OPTRecord.class::isInstance)
                            .map(OPTRecord.class::cast)
                            .toList();
            return extensions.size() > 1
                    ? Optional.empty()
                    : Optional.of(
                            new Query(
                                    head,
                                    Question.of(message.getQuestion()),
                                    extensions.stream().map(Query::edns).findFirst()));
        } catch (IOException | RuntimeException _) {
            // The library throws whatever it comes across when it is given garbage.
            return Optional.empty();
        }
    }

    private static Edns edns(OPTRecord opt) {
        return new Edns(
                opt.getVersion(), opt.getPayloadSize(), (opt.getFlags() & ExtendedFlags.DO) != 0);
    }

    boolean wantsSignatures() {
        return edns.isPresent() && edns.get().wantsSignatures();
    }
}
