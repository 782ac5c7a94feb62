package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.IpAddress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

class LimitsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final FakeUpstream upstream = FakeUpstream.answering();
    private final List<AutoCloseable> opened = new ArrayList<>(List.of(upstream));

    @AfterEach
    void close() throws Exception {
        for (var each : opened.reversed()) {
            each.close();
        }
    }

    private GivenResolver resolver(
            ResolverSettings.PerClient perClient, ResolverSettings.InAll inAll) {
        var settings = GivenResolver.settings(upstream);
        var given =
                new GivenResolver(
                        new ResolverSettings(
                                settings.forwarding(),
                                settings.cache(),
                                perClient,
                                inAll,
                                settings.idleTime()));
        opened.add(given);
        given.names.name(GivenResolver.ALICE, "db", "10.0.0.7");
        given.names.name(GivenResolver.BOB, "db", "10.0.0.8");
        return given;
    }

    private GivenResolver limited(int rate, int burst) {
        return resolver(
                new ResolverSettings.PerClient(rate, burst, 64, 8), ResolverSettings.USUAL.inAll());
    }

    private GivenResolver withConnections(int perClient, int inAll) {
        return resolver(
                new ResolverSettings.PerClient(200, 1000, 64, perClient),
                new ResolverSettings.InAll(4096, 1024, inAll));
    }

    private GivenResolver withForwarded(int perClient, int inAll) {
        return resolver(
                new ResolverSettings.PerClient(200, 1000, perClient, 8),
                new ResolverSettings.InAll(4096, inAll, 256));
    }

    private static byte[] query(String name) {
        return Client.query(name, Type.A).toWire();
    }

    private static void await(GivenResolver given, LongPredicate queries) {
        Wait.until(
                PATIENCE,
                () -> queries.test(given.counts().queries()),
                () -> given.counts().toString());
    }

    @Test
    void ofDatagramsAboveTheRateEveryFourthIsAnsweredThatTheClientShouldComeByTcp() {
        var given = limited(10, 20);
        var alice = given.alice();
        for (int i = 0; i < 60; i++) {
            alice.send(query("db."));
        }
        await(given, queries -> queries == 60);
        var answers = Stream.generate(alice::receive).limit(30).toList();
        assertEquals(20, answers.stream().filter(a -> !Client.isTruncated(a)).count());
        assertEquals(40, given.counts().dropped());
        var word = answers.stream().filter(Client::isTruncated).findAny().orElseThrow();
        assertEquals(List.of(), Client.data(word));
        assertEquals("db.", word.getQuestion().getName().toString());
        assertTrue(word.getHeader().getFlag(Flags.QR));
    }

    @Test
    void aClientAboveTheRateIsNoHarmToOthers() {
        var given = limited(10, 20);
        var alice = given.alice();
        for (int i = 0; i < 60; i++) {
            alice.send(query("db."));
        }
        assertEquals(List.of("10.0.0.8"), given.bob().data("db.", Type.A));
    }

    @Test
    void withTimeAClientMayAskAgain() throws IOException {
        var given = limited(10, 20);
        var alice = given.alice();
        for (int i = 0; i < 60; i++) {
            alice.send(query("db."));
        }
        await(given, queries -> queries == 60);
        given.clock.pass(Duration.ofMillis(200));
        alice.drain();
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
        long dropped = given.counts().dropped();
        alice.send(query("db."));
        await(given, queries -> queries == 63);
        Wait.until(
                PATIENCE,
                () -> given.counts().dropped() == dropped + 1,
                () -> given.counts().toString());
    }

    @Test
    void allWhoAreNotKnownHaveOneRateTogether() {
        var given = limited(10, 20);
        for (int i = 0; i < 60; i++) {
            given.client("127.0.1." + i).send(query("db."));
        }
        await(given, queries -> queries == 60);
        Wait.until(PATIENCE, () -> given.counts().refused() == 20, () -> given.counts().toString());
        assertEquals(40, given.counts().dropped());
    }

    @Test
    void byTcpAClientAboveTheRateWaitsForItsTurn() throws Exception {
        var given = limited(10, 20);
        try (var connection = given.alice().connect()) {
            for (int i = 0; i < 25; i++) {
                connection.send(query("db."));
            }
            for (int i = 0; i < 20; i++) {
                assertEquals(List.of("10.0.0.7"), Client.data(connection.receive()));
            }
            await(given, queries -> queries == 21);
            Wait.through(Duration.ofMillis(250), () -> assertEquals(20, given.counts().local()));
            given.clock.pass(Duration.ofMillis(500));
            for (int i = 0; i < 5; i++) {
                assertEquals(List.of("10.0.0.7"), Client.data(connection.receive()));
            }
        }
    }

    @Test
    void aClockThatIsSetBackStopsNobody() {
        var given = limited(10, 20);
        var alice = given.alice();
        for (int i = 0; i < 15; i++) {
            alice.data("db.", Type.A);
        }
        given.clock.pass(Duration.ofHours(-1));
        for (int i = 0; i < 5; i++) {
            alice.data("db.", Type.A);
        }
        given.clock.pass(Duration.ofSeconds(1));
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
    }

    @Test
    void aClientHasSoManyQueriesUpstreamAtOnceAndMoreHaveFailed() {
        assertForwarded(withForwarded(3, 1000), 5, 3);
    }

    @Test
    void allTogetherHaveSoManyQueriesUpstreamAtOnce() {
        assertForwarded(withForwarded(1000, 3), 5, 3);
    }

    /// Asks for names while upstream does not answer.
    private void assertForwarded(GivenResolver given, int all, int allowed) {
        upstream.byUdp(_ -> Stream.of());
        var alice = given.alice();
        for (int i = 0; i < all; i++) {
            alice.send(query("n%d.test.".formatted(i)));
        }
        var failed = Stream.generate(alice::receive).limit(all - allowed).toList();
        assertTrue(failed.stream().allMatch(a -> a.getRcode() == Rcode.SERVFAIL));
        assertEquals(allowed, given.counts().forwarded());
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
    }

    @Test
    void aClientHasSoManyConnectionsAndAFurtherOneIsClosed() throws Exception {
        var given = withConnections(2, 100);
        assertConnections(given, given.alice(), given.alice());
        try (var other = given.bob().connect()) {
            assertEquals(List.of("10.0.0.8"), Client.data(other.ask("db.", Type.A)));
        }
    }

    @Test
    void allTogetherHaveSoManyConnections() throws Exception {
        var given = withConnections(100, 2);
        assertConnections(given, given.alice(), given.bob());
    }

    /// Two are allowed.
    private static void assertConnections(GivenResolver given, Client one, Client other)
            throws IOException {
        try (var first = one.connect();
                var second = other.connect()) {
            assertEquals(Rcode.NOERROR, first.ask("db.", Type.A).getRcode());
            assertEquals(Rcode.NOERROR, second.ask("db.", Type.A).getRcode());
            try (var third = one.connect()) {
                assertTrue(third.isAtEnd());
            }
            assertEquals(Rcode.NOERROR, first.ask("db.", Type.A).getRcode());
        }
        Wait.until(
                PATIENCE, () -> canConnect(one), () -> "the closed connections are still counted");
    }

    private static boolean canConnect(Client client) {
        try (var connection = client.connect()) {
            Message answer = connection.ask("db.", Type.A);
            return answer.getRcode() == Rcode.NOERROR;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void aLongAnswerFromUpstreamCountsAsManyQueries() {
        var given = limited(10, 50);
        var text = "big.test. 60 IN TXT " + "\"%s\" ".formatted("x".repeat(200)).repeat(150);
        upstream.byUdp(query -> Stream.of(FakeUpstream.truncated(query)))
                .byTcp(query -> Stream.of(FakeUpstream.answer(query, text)));
        var alice = given.alice();
        assertTrue(Client.isTruncated(alice.ask("big.test.", Type.TXT)));
        for (int i = 0; i < 20; i++) {
            assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
        }
        alice.send(query("db."));
        Wait.until(PATIENCE, () -> given.counts().dropped() == 1, () -> given.counts().toString());
        assertEquals(List.of("10.0.0.8"), given.bob().data("db.", Type.A));
    }

    @Test
    void thoseWhoAreAtRestAreForgotten() {
        var clock = new MovedClock();
        var askers =
                new Askers(
                        new ResolverSettings.PerClient(10, 20, 1, 1),
                        ResolverSettings.USUAL.inAll(),
                        clock);
        var busy = asker(0);
        assertTrue(askers.beginForwarding(busy));
        IntStream.range(1, 5000)
                .forEach(
                        i -> {
                            askers.admit(asker(i));
                            clock.pass(Duration.ofMillis(100));
                        });
        assertTrue(askers.shares() < 2048, () -> askers.shares() + " are remembered");
        assertTrue(!askers.beginForwarding(busy));
        askers.endForwarding(busy);
        assertTrue(askers.beginForwarding(busy));
    }

    private static Asker asker(int number) {
        return new Asker(IpAddress.v4(0x0a000001L + number), true);
    }
}
