package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Size;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

class CacheTest {
    private static final String SOA = "test. 600 IN SOA ns.test. admin.test. 1 3600 600 86400 %d";

    private final FakeUpstream upstream = FakeUpstream.start();
    private final GivenResolver given = GivenResolver.forwardingTo(upstream);
    private final Client alice = given.alice();

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    private void answering(String... records) {
        upstream.by(query -> Stream.of(FakeUpstream.answer(query, records)));
    }

    private void answering(int rcode, String... records) {
        upstream.by(query -> Stream.of(FakeUpstream.answer(query, rcode, records)));
    }

    @Test
    void anAnswerIsGivenToAllWithTheTimeThatItHasLeft() {
        answering("example.test. 60 IN A 192.0.2.1");
        assertEquals(List.of(60L), Client.ttls(alice.ask("example.test.", Type.A)));
        given.clock.pass(Duration.ofSeconds(20));
        var answer = given.bob().ask("EXAMPLE.test.", Type.A);
        assertEquals(List.of(40L), Client.ttls(answer));
        assertEquals(List.of("192.0.2.1"), Client.data(answer));
        given.clock.pass(Duration.ofSeconds(39));
        assertEquals(List.of(1L), Client.ttls(alice.ask("example.test.", Type.A)));
        assertEquals(1, upstream.asked().size());
        assertEquals(2, given.counts().cached());
        given.clock.pass(Duration.ofSeconds(1));
        assertEquals(List.of(60L), Client.ttls(alice.ask("example.test.", Type.A)));
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void anAnswerLivesAsLongAsTheFirstOfItsRecordsToDie() {
        answering("example.test. 600 IN CNAME www.test.", "www.test. 30 IN A 192.0.2.1");
        alice.ask("example.test.", Type.A);
        given.clock.pass(Duration.ofSeconds(29));
        assertEquals(List.of(571L, 1L), Client.ttls(alice.ask("example.test.", Type.A)));
        given.clock.pass(Duration.ofSeconds(1));
        alice.ask("example.test.", Type.A);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void anotherTypeIsAskedForItself() {
        answering("example.test. 60 IN A 192.0.2.1");
        alice.ask("example.test.", Type.A);
        alice.ask("example.test.", Type.AAAA);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void thatANameIsAbsentIsKeptForAsLongAsItsZoneSays() {
        answering(Rcode.NXDOMAIN, "authority", SOA.formatted(45));
        assertEquals(Rcode.NXDOMAIN, alice.ask("none.test.", Type.A).getRcode());
        given.clock.pass(Duration.ofSeconds(44));
        assertEquals(Rcode.NXDOMAIN, alice.ask("none.test.", Type.A).getRcode());
        assertEquals(1, upstream.asked().size());
        given.clock.pass(Duration.ofSeconds(1));
        alice.ask("none.test.", Type.A);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void thatARecordIsAbsentIsKeptNoLongerThanFiveMinutes() {
        answering("example.test. 900 IN CNAME www.test.", "authority", SOA.formatted(86400));
        alice.ask("example.test.", Type.AAAA);
        given.clock.pass(Duration.ofSeconds(299));
        alice.ask("example.test.", Type.AAAA);
        assertEquals(1, upstream.asked().size());
        given.clock.pass(Duration.ofSeconds(1));
        alice.ask("example.test.", Type.AAAA);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void whatTheZoneSaysNothingAboutIsNotKept() {
        answering(Rcode.NXDOMAIN);
        alice.ask("none.test.", Type.A);
        alice.ask("none.test.", Type.A);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void anAnswerThatMayNotBeKeptIsNot() {
        answering("example.test. 0 IN A 192.0.2.1");
        alice.ask("example.test.", Type.A);
        assertEquals(List.of(0L), Client.ttls(alice.ask("example.test.", Type.A)));
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void aTimeWithTheHighestBitSetIsNone() {
        upstream.by(
                query -> {
                    var answer = FakeUpstream.answer(query, "example.test. 60 IN A 192.0.2.1");
                    answer[answer.length - 10] = (byte) 0x80;
                    return Stream.of(answer);
                });
        assertEquals(List.of(0L), Client.ttls(alice.ask("example.test.", Type.A)));
        alice.ask("example.test.", Type.A);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void anAnswerIsKeptForADayAtMost() {
        answering("example.test. 1000000 IN A 192.0.2.1");
        alice.ask("example.test.", Type.A);
        given.clock.pass(Duration.ofDays(1).minusSeconds(1));
        alice.ask("example.test.", Type.A);
        assertEquals(1, upstream.asked().size());
        given.clock.pass(Duration.ofSeconds(1));
        alice.ask("example.test.", Type.A);
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void thatItFailedIsKeptForOneSecond() {
        answering(Rcode.SERVFAIL);
        assertEquals(Rcode.SERVFAIL, alice.ask("example.test.", Type.A).getRcode());
        given.clock.pass(Duration.ofMillis(999));
        assertEquals(Rcode.SERVFAIL, alice.ask("example.test.", Type.A).getRcode());
        assertEquals(1, upstream.asked().size());
        given.clock.pass(Duration.ofMillis(1));
        answering("example.test. 60 IN A 192.0.2.1");
        assertEquals(List.of("192.0.2.1"), alice.data("example.test.", Type.A));
    }

    @Test
    void anAnswerIsForgottenWhenTheClockIsSetBack() {
        answering("example.test. 60 IN A 192.0.2.1");
        alice.ask("example.test.", Type.A);
        given.clock.pass(Duration.ofHours(-1));
        assertEquals(List.of(60L), Client.ttls(alice.ask("example.test.", Type.A)));
        assertEquals(2, upstream.asked().size());
    }

    @Test
    void theCacheHoldsSoManyAnswersAndForgetsWhatWasAskedForLeastRecently() {
        var clock = new MovedClock();
        var cache = new Cache(bounds(10, Size.ofMib(1)), clock);
        for (int i = 0; i < 10; i++) {
            cache.put(wanted(i), found(20));
        }
        assertTrue(cache.find(wanted(0)).isPresent());
        cache.put(wanted(10), found(20));
        assertEquals(10, cache.entries());
        assertTrue(cache.find(wanted(0)).isPresent());
        assertEquals(Optional.empty(), cache.find(wanted(1)));
    }

    @Test
    void theCacheHoldsSoManyBytes() {
        var cache = new Cache(bounds(1000, new Size(20_000)), new MovedClock());
        for (int i = 0; i < 100; i++) {
            cache.put(wanted(i), found(1500));
        }
        assertEquals(10, cache.entries());
        cache.put(wanted(200), found(30_000));
        assertEquals(Optional.empty(), cache.find(wanted(200)));
        assertEquals(10, cache.entries());
        cache.put(wanted(99), found(10_000));
        assertTrue(cache.find(wanted(99)).isPresent());
        assertTrue(cache.entries() < 10);
    }

    private static ResolverSettings.CacheBounds bounds(int entries, Size size) {
        return new ResolverSettings.CacheBounds(
                entries, size, Duration.ofDays(1), Duration.ofMinutes(5));
    }

    private static Wanted wanted(int number) {
        var name = Name.fromConstantString("n%d.test.".formatted(number));
        return new Wanted(new Question(name, Type.TXT), false, false);
    }

    /// An answer of about so many bytes.
    private static Found found(int length) {
        var text = new StringBuilder();
        for (int left = length; left > 0; left -= 100) {
            text.append('"').append("x".repeat(Math.min(left, 100))).append("\" ");
        }
        var question = new Question(Name.fromConstantString("n.test."), Type.TXT);
        var record = FakeUpstream.record("n.test. 60 IN TXT " + text);
        return new Found(
                Answer.foreign(question, Rcode.NOERROR, List.of(record), List.of()),
                Duration.ofSeconds(60));
    }
}
