package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.ExtendedFlags;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

class ForwardingTest {
    private static final String A = "example.test. 60 IN A 192.0.2.1";
    private static final Duration SHORT = Duration.ofMillis(300);

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (var each : opened.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T opened(T one) {
        opened.add(one);
        return one;
    }

    private GivenResolver resolver(ResolverSettings settings) {
        return opened(new GivenResolver(settings));
    }

    /// One that gives servers little time, since a test waits for them to be silent.
    private GivenResolver impatient(FakeUpstream... upstreams) {
        return resolver(
                GivenResolver.settings(
                        GivenResolver.forwarding(SHORT, Duration.ofSeconds(4), upstreams)));
    }

    @Test
    void aForeignNameIsAnsweredByTheServerUpstream() {
        var upstream = opened(FakeUpstream.answering(A));
        var answer =
                resolver(GivenResolver.settings(upstream)).alice().ask("example.test.", Type.A);
        assertEquals(List.of("192.0.2.1"), Client.data(answer));
        assertEquals(List.of(60L), Client.ttls(answer));
        assertFalse(answer.getHeader().getFlag(Flags.AA));
        assertTrue(answer.getHeader().getFlag(Flags.RA));
        var asked = upstream.asked().getFirst().query();
        assertTrue(asked.getHeader().getFlag(Flags.RD));
        assertEquals(1232, asked.getOPT().getPayloadSize());
    }

    @Test
    void thatAForeignNameIsAbsentIsPassedOn() {
        var upstream =
                opened(FakeUpstream.start())
                        .by(q -> Stream.of(FakeUpstream.answer(q, Rcode.NXDOMAIN)));
        var answer = resolver(GivenResolver.settings(upstream)).alice().ask("none.test.", Type.A);
        assertEquals(Rcode.NXDOMAIN, answer.getRcode());
    }

    @Test
    void whatAnAnswerSaysBesidesIsLeftOut() {
        var upstream =
                opened(
                        FakeUpstream.answering(
                                "example.test. 60 IN MX 1 mx.example.test.",
                                "additional",
                                "mx.example.test. 60 IN A 192.0.2.5"));
        var answer =
                resolver(GivenResolver.settings(upstream)).alice().ask("example.test.", Type.MX);
        assertEquals(List.of("1 mx.example.test."), Client.data(answer));
        assertEquals(List.of(), answer.getSection(Section.ADDITIONAL));
    }

    @Test
    void aNameIsNotAskedUpstreamWithoutTheWish() {
        var upstream = opened(FakeUpstream.answering(A));
        var query = Client.query("example.test.", Type.A);
        query.getHeader().unsetFlag(Flags.RD);
        var answer = resolver(GivenResolver.settings(upstream)).alice().ask(query);
        assertEquals(Rcode.REFUSED, answer.getRcode());
        assertEquals(List.of(), upstream.asked());
    }

    @Test
    void equalQueriesAtTheSameTimeAreAskedOnce() throws Exception {
        var isAsked = new CountDownLatch(1);
        var mayAnswer = new CountDownLatch(1);
        var upstream =
                opened(FakeUpstream.start())
                        .byUdp(
                                query -> {
                                    isAsked.countDown();
                                    await(mayAnswer);
                                    return Stream.of(
                                            FakeUpstream.answer(
                                                    query, "example.test. 0 IN A 192.0.2.1"));
                                });
        var given = resolver(GivenResolver.settings(upstream));
        var clients = Stream.generate(given::alice).limit(50).toList();
        clients.forEach(client -> client.send(Client.query("example.test.", Type.A).toWire()));
        await(isAsked);
        Wait.until(
                Duration.ofSeconds(5),
                () -> given.counts().queries() == clients.size(),
                () -> given.counts().toString());
        // Those that have come may be on their way to the one that waits.
        Wait.through(Duration.ofMillis(300), () -> {});
        mayAnswer.countDown();
        for (var client : clients) {
            assertEquals(List.of("192.0.2.1"), Client.data(client.receive()));
        }
        assertEquals(1, given.counts().forwarded());
        assertEquals(1, upstream.asked().size());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anAnswerThatDoesNotFitIsFetchedByTcp() throws Exception {
        var many =
                IntStream.range(0, 100)
                        .mapToObj("example.test. 60 IN A 192.0.2.%d"::formatted)
                        .toArray(String[]::new);
        var upstream =
                opened(FakeUpstream.answering(many))
                        .byUdp(query -> Stream.of(FakeUpstream.truncated(query)));
        var alice = resolver(GivenResolver.settings(upstream)).alice();
        assertTrue(Client.isTruncated(alice.ask("example.test.", Type.A)));
        try (var connection = alice.connect()) {
            assertEquals(many.length, Client.data(connection.ask("example.test.", Type.A)).size());
        }
        assertEquals(
                List.of(Transport.UDP, Transport.TCP),
                upstream.asked().stream().map(FakeUpstream.Asked::transport).toList());
    }

    @Test
    void ifAServerIsSilentTheNextOneIsAsked() {
        var silent = opened(FakeUpstream.silent());
        var upstream = opened(FakeUpstream.answering(A));
        var alice = impatient(silent, upstream).alice();
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
        assertEquals(1, silent.asked().size());
    }

    @Test
    void theServerThatAnsweredIsAskedFirstFromThenOn() {
        var silent = opened(FakeUpstream.silent());
        var upstream = opened(FakeUpstream.answering(A));
        var alice = impatient(silent, upstream).alice();
        alice.ask("one.test.", Type.A);
        alice.ask("two.test.", Type.A);
        assertEquals(List.of("one.test."), silent.asked().stream().map(a -> a.name()).toList());
    }

    @Test
    void aServerThatWasSilentOnceIsAskedAgain() {
        var upstream = opened(FakeUpstream.start());
        upstream.byUdp(
                query ->
                        upstream.asked().size() == 1
                                ? Stream.of()
                                : Stream.of(FakeUpstream.answer(query, A)));
        var alice = impatient(upstream).alice();
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
    }

    @Test
    void serversThatRefuseOrFailAreAskedOnceEach() {
        var refusing =
                opened(FakeUpstream.start())
                        .by(query -> Stream.of(FakeUpstream.answer(query, Rcode.REFUSED)));
        var failing =
                opened(FakeUpstream.start())
                        .by(query -> Stream.of(FakeUpstream.answer(query, Rcode.SERVFAIL)));
        var closed = FakeUpstream.start();
        closed.close();
        var given = resolver(GivenResolver.settings(closed, refusing, failing));
        assertEquals(Rcode.SERVFAIL, given.alice().ask("example.test.", Type.A).getRcode());
        assertEquals(1, refusing.asked().size());
        assertEquals(1, failing.asked().size());
        assertEquals(1, given.counts().failed());
    }

    @Test
    void ifAllServersAreSilentItHasFailedAtTheDeadline() {
        var silent = opened(FakeUpstream.silent());
        var other = opened(FakeUpstream.silent());
        var deadline = Duration.ofMillis(1000);
        var alice =
                resolver(
                                GivenResolver.settings(
                                        GivenResolver.forwarding(SHORT, deadline, silent, other)))
                        .alice();
        long start = System.nanoTime();
        assertEquals(Rcode.SERVFAIL, alice.ask("example.test.", Type.A).getRcode());
        var took = Duration.ofNanos(System.nanoTime() - start);
        assertTrue(took.compareTo(deadline) >= 0, took::toString);
        assertTrue(took.compareTo(deadline.multipliedBy(3)) < 0, took::toString);
        assertTrue(silent.asked().size() > 1);
        assertTrue(other.asked().size() > 1);
    }

    @Test
    void aServerThatTricklesByTcpDoesNotOutlastTheDeadline() {
        var slow =
                opened(FakeUpstream.start())
                        .byUdp(query -> Stream.of(FakeUpstream.truncated(query)))
                        .trickling();
        var given =
                resolver(
                        GivenResolver.settings(
                                GivenResolver.forwarding(SHORT, Duration.ofMillis(600), slow)));
        assertEquals(Rcode.SERVFAIL, given.alice().ask("example.test.", Type.A).getRcode());
    }

    @Test
    void aServerThatKnowsNoExtensionsIsAskedWithoutThem() {
        var old = opened(FakeUpstream.start());
        old.byUdp(
                        query ->
                                Stream.of(
                                        query.getOPT() == null
                                                ? FakeUpstream.answer(query, A)
                                                : headOnly(query, Rcode.FORMERR)))
                .byTcp(_ -> Stream.of());
        var alice = resolver(GivenResolver.settings(old)).alice();
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
    }

    private static byte[] headOnly(Message query, int rcode) {
        var answer = FakeUpstream.message(query, rcode);
        answer.removeAllRecords(Section.QUESTION);
        return answer.toWire();
    }

    @Test
    void whatDnssecIsCheckedWithIsAskedForThoseWhoWantIt() {
        var upstream = opened(FakeUpstream.answering(A));
        var alice = resolver(GivenResolver.settings(upstream)).alice();
        var query = Client.query("example.test.", Type.A);
        query.addRecord(new OPTRecord(4096, 0, 0, ExtendedFlags.DO), Section.ADDITIONAL);
        query.getHeader().setFlag(Flags.CD);
        alice.ask("example.test.", Type.A);
        var answer = alice.ask(query);
        assertEquals(ExtendedFlags.DO, answer.getOPT().getFlags());
        assertTrue(answer.getHeader().getFlag(Flags.CD));
        assertFalse(answer.getHeader().getFlag(Flags.AD));
        assertEquals(
                List.of(false, true),
                upstream.asked().stream()
                        .map(a -> a.query().getHeader().getFlag(Flags.CD))
                        .toList());
        assertEquals(
                List.of(0, ExtendedFlags.DO),
                upstream.asked().stream().map(a -> a.query().getOPT().getFlags()).toList());
    }

    @Test
    void anAnswerThatCannotBeReadIsFetchedByTcpAndThenGivenUp() {
        var upstream =
                opened(FakeUpstream.start())
                        .by(
                                query -> {
                                    var answer = FakeUpstream.answer(query, A);
                                    answer[answer.length - 5] = 9;
                                    return Stream.of(answer);
                                });
        var alice = resolver(GivenResolver.settings(upstream)).alice();
        assertEquals(Rcode.SERVFAIL, alice.ask("example.test.", Type.A).getRcode());
        assertEquals(
                List.of(Transport.UDP, Transport.TCP),
                upstream.asked().stream().map(FakeUpstream.Asked::transport).toList());
    }
}
