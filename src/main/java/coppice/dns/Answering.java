package coppice.dns;

import java.time.Duration;
import java.util.Optional;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

/// What is answered to a query. The first that applies:
///
/// 1. a client that is not known: REFUSED;
/// 2. an operation other than QUERY: NOTIMP;
/// 3. malformed, or not exactly one question: FORMERR;
/// 4. extensions of a version that does not exist yet: BADVERS;
/// 5. a class other than IN, a transfer of a zone: REFUSED; another question that is for no kind of record: NOTIMP;
/// 6. a local name: what [LocalAnswers] finds, never anybody else;
/// 7. a foreign name without the wish that others be asked: REFUSED;
/// 8. what [Lookups] finds in the cache or upstream.
///
/// Thread-safe.
final class Answering {
    /// Types from here on are no records but questions about them, up to 255.
    private static final int FIRST_QUESTION_TYPE = 128;

    private static final int LAST_QUESTION_TYPE = 255;

    private final LocalAnswers local;
    private final Lookups lookups;
    private final Counters counters;
    private final Complaints complaints;

    Answering(LocalAnswers local, Lookups lookups, Counters counters, Complaints complaints) {
        this.local = local;
        this.lookups = lookups;
        this.counters = counters;
        this.complaints = complaints;
    }

    byte[] answer(Asker asker, Head head, byte[] message, Transport transport) {
        try {
            if (head.opcode() != Opcode.QUERY) {
                return unread(asker, head, Rcode.NOTIMP);
            }
            var query = Query.parse(head, message);
            if (query.isEmpty()) {
                return unread(asker, head, Rcode.FORMERR);
            }
            var found = answer(asker, query.get());
            count(found.answer().rcode());
            return found.answer().to(query.get(), transport.room(query.get()), found.age());
        } catch (RuntimeException e) {
            complaints.add("a fault of ours in answering a query", e);
            counters.failed.increment();
            return Answer.refusal(head, Rcode.SERVFAIL);
        }
    }

    private byte[] unread(Asker asker, Head head, int rcode) {
        counters.refused.increment();
        return Answer.refusal(head, asker.isKnown() ? rcode : Rcode.REFUSED);
    }

    private Cache.Aged answer(Asker asker, Query query) {
        var question = query.question();
        var refusal = refusal(asker, query);
        if (refusal.isPresent()) {
            return fresh(Answer.empty(question, refusal.get()));
        }
        var known = local.find(asker.address(), question);
        if (known.isPresent()) {
            counters.local.increment();
            return fresh(known.get());
        }
        return query.head().has(Head.RECURSION_DESIRED)
                ? lookups.find(asker, Wanted.by(query))
                : fresh(Answer.empty(question, Rcode.REFUSED));
    }

    private static Cache.Aged fresh(Answer answer) {
        return new Cache.Aged(answer, Duration.ZERO);
    }

    private static Optional<Integer> refusal(Asker asker, Query query) {
        int type = query.question().type();
        if (!asker.isKnown()) {
            return Optional.of(Rcode.REFUSED);
        }
        if (query.edns().isPresent() && query.edns().get().version() > 0) {
            return Optional.of(Rcode.BADVERS);
        }
        if (query.question().dclass() != DClass.IN || type == Type.AXFR || type == Type.IXFR) {
            return Optional.of(Rcode.REFUSED);
        }
        boolean isRecord = type < FIRST_QUESTION_TYPE || type > LAST_QUESTION_TYPE;
        return isRecord && type != 0 && type != Type.OPT
                ? Optional.empty()
                : Optional.of(Rcode.NOTIMP);
    }

    private void count(int rcode) {
        switch (rcode) {
            case Rcode.SERVFAIL -> counters.failed.increment();
            case Rcode.FORMERR, Rcode.NOTIMP, Rcode.REFUSED, Rcode.BADVERS ->
                    counters.refused.increment();
            default -> {}
        }
    }
}
