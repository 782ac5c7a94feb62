package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

/// A stranger that sends answers in the name of the server upstream.
class ForgeryTest {
    private static final String A = "example.test. 60 IN A 192.0.2.1";

    private final FakeUpstream upstream = FakeUpstream.answering(A);
    private final GivenResolver given = GivenResolver.forwardingTo(upstream);
    private final Client alice = given.alice();

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    @Test
    void eachQueryUpstreamHasANumberAndAPortOfItsOwn() {
        int queries = 40;
        for (int i = 0; i < queries; i++) {
            alice.ask("n%d.test.".formatted(i), Type.A);
        }
        var ids = upstream.asked().stream().map(a -> a.query().getHeader().getID()).toList();
        var ports = upstream.asked().stream().map(FakeUpstream.Asked::port).toList();
        assertTrue(new HashSet<>(ids).size() > queries - 3, ids::toString);
        assertTrue(new HashSet<>(ports).size() > queries - 3, ports::toString);
        assertNotEquals(ids.stream().sorted().toList(), ids);
        assertNotEquals(ports.stream().sorted().toList(), ports);
    }

    @Test
    void answersThatAreNotToTheQueryAreNotBelieved() {
        var forged = "example.test. 60 IN A 203.0.113.66";
        upstream.byUdp(
                query -> {
                    var wrongNumber = FakeUpstream.message(query, Rcode.NOERROR, forged);
                    wrongNumber.getHeader().setID(query.getHeader().getID() ^ 1);
                    var wrongQuestion =
                            FakeUpstream.message(
                                    new Message(
                                            FakeUpstream.answer(
                                                    withId(
                                                            Client.query("other.test.", Type.A),
                                                            query))),
                                    Rcode.NOERROR,
                                    forged);
                    var noResponse = FakeUpstream.message(query, Rcode.NOERROR, forged);
                    noResponse.getHeader().unsetFlag(Flags.QR);
                    FakeUpstream.sendFromElsewhere(
                            FakeUpstream.answer(query, forged), upstream.clientOfLast());
                    return Stream.of(
                            wrongNumber.toWire(),
                            wrongQuestion.toWire(),
                            noResponse.toWire(),
                            new byte[] {1, 2, 3},
                            FakeUpstream.answer(query, A));
                });
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
        assertEquals(1, upstream.asked().size());
    }

    private static Message withId(Message message, Message other) {
        message.getHeader().setID(other.getHeader().getID());
        return message;
    }

    @Test
    void whereSomebodyGuessesItIsAskedByTcp() {
        upstream.byUdp(
                query ->
                        IntStream.range(1, 100)
                                .mapToObj(
                                        i -> {
                                            var guess =
                                                    FakeUpstream.message(query, Rcode.NOERROR, A);
                                            guess.getHeader().setID(query.getHeader().getID() ^ i);
                                            return guess.toWire();
                                        }));
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
        assertEquals(1, upstream.asked(asked -> asked.transport() == Transport.TCP));
    }
}
