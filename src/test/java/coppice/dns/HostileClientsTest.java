package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/// Garbage from clients and from upstream: whatever comes, the next good query is answered.
class HostileClientsTest {
    private static final int ROUNDS = 3000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Random random = Seed.random(HostileClientsTest.class);
    private final FakeUpstream upstream = FakeUpstream.answering();
    private final GivenResolver given =
            new GivenResolver(
                    GivenResolver.settings(
                            GivenResolver.settings(upstream).forwarding(),
                            ResolverSettings.USUAL.cache(),
                            new ResolverSettings.PerClient(1_000_000, 1_000_000, 64, 8)));

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    private void assertGoodQueriesAreAnswered() throws IOException {
        given.names.name(GivenResolver.ALICE, "db", "10.0.0.7");
        upstream.by(query -> Stream.of(FakeUpstream.answer(query, "good.test. 60 IN A 192.0.2.1")));
        var alice = given.alice();
        Wait.until(PATIENCE, () -> isAnswered(alice), () -> given.counts().toString());
        assertEquals(List.of("192.0.2.1"), alice.data("good.test.", Type.A));
        try (var connection = alice.connect()) {
            assertEquals(List.of("10.0.0.7"), Client.data(connection.ask("db.", Type.A)));
        }
    }

    /// The kernel drops what does not fit in its queue, so a query may have to be sent again.
    private static boolean isAnswered(Client client) {
        return client.tryAsk("db.", Type.A, Duration.ofMillis(300))
                .map(answer -> Client.data(answer).equals(List.of("10.0.0.7")))
                .orElse(false);
    }

    @Test
    void randomBytesByUdpDoNoHarm() throws IOException {
        sendAsAlice(() -> random(random.nextInt(1, 200)));
        assertGoodQueriesAreAnswered();
    }

    @Test
    void queriesWithSomeBytesChangedDoNoHarm() throws IOException {
        sendAsAlice(() -> changed(query()));
        assertGoodQueriesAreAnswered();
    }

    @Test
    void headsThatPromiseALotDoNoHarm() throws IOException {
        sendAsAlice(
                () -> {
                    var head = random(Head.LENGTH);
                    head[2] = 1;
                    Arrays.fill(head, 4, Head.LENGTH, (byte) 0xff);
                    return head;
                });
        assertGoodQueriesAreAnswered();
    }

    @Test
    void garbageByTcpDoesNoHarm() throws IOException {
        for (int i = 0; i < ROUNDS / 50; i++) {
            try (var connection = given.alice().connect()) {
                for (int j = 0; j < 50; j++) {
                    connection.send(changed(query()));
                }
                connection.socket().getOutputStream().write(random(random.nextInt(3000)));
            } catch (IOException _) {
                // It is closed on those who are out of step.
            }
        }
        assertGoodQueriesAreAnswered();
    }

    @Test
    void garbageFromUpstreamIsAnsweredAsFailure() throws IOException {
        var records =
                new String[] {
                    "n.test. 60 IN CNAME m.test.",
                    "m.test. 60 IN A 192.0.2.1",
                    "m.test. 60 IN HTTPS 1 . alpn=h2 ipv4hint=192.0.2.1",
                    "m.test. 60 IN TXT \"some text\"",
                    "authority",
                    "test. 60 IN SOA ns.test. admin.test. 1 2 3 4 5"
                };
        upstream.by(
                query -> {
                    var answer = FakeUpstream.answer(query, records);
                    // Its number and question are right, so that the rest is looked at.
                    int fixed = Head.LENGTH + Question.of(query.getQuestion()).bytes().length;
                    return Stream.of(changed(answer, fixed), changed(answer, fixed));
                });
        var alice = given.alice();
        for (int i = 0; i < ROUNDS / 10; i++) {
            var query =
                    Client.query(
                            "n%d.test.".formatted(i), random.nextBoolean() ? Type.A : Type.HTTPS);
            alice.send(query.toWire());
            Message answer = alice.receive();
            assertEquals(query.getHeader().getID(), answer.getHeader().getID());
        }
        assertGoodQueriesAreAnswered();
    }

    @Test
    void aFloodByManyDoesNoHarm() throws Exception {
        var flood =
                IntStream.range(0, 4)
                        .mapToObj(
                                i ->
                                        Thread.startVirtualThread(
                                                () -> {
                                                    var bob = given.bob();
                                                    var query = query();
                                                    for (int j = 0; j < ROUNDS; j++) {
                                                        bob.send(query);
                                                    }
                                                }))
                        .toList();
        for (var thread : flood) {
            thread.join();
        }
        assertGoodQueriesAreAnswered();
    }

    /// No faster than it is received.
    private void sendAsAlice(Supplier<byte[]> message) {
        given.names.name(GivenResolver.ALICE, "db", "10.0.0.7");
        var alice = given.alice();
        for (int i = 1; i <= ROUNDS; i++) {
            alice.send(message.get());
            if (i % 50 == 0) {
                Wait.until(PATIENCE, () -> isAnswered(alice), () -> given.counts().toString());
            }
        }
    }

    private byte[] query() {
        var query = Client.query("n%d.test.".formatted(random.nextInt(10)), Type.A);
        if (random.nextBoolean()) {
            query.addRecord(new OPTRecord(1232, Rcode.NOERROR, 0, 0), Section.ADDITIONAL);
        }
        return query.toWire();
    }

    private byte[] random(int length) {
        var bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private byte[] changed(byte[] bytes) {
        return changed(bytes, 0);
    }

    /// One to four bytes are others, and sometimes the end is missing.
    private byte[] changed(byte[] bytes, int from) {
        int length = random.nextInt(4) == 0 ? random.nextInt(from, bytes.length) : bytes.length;
        var changed = Arrays.copyOf(bytes, length);
        for (int i = random.nextInt(1, 5); i > 0 && length > from; i--) {
            changed[random.nextInt(from, length)] = (byte) random.nextInt();
        }
        return changed;
    }
}
