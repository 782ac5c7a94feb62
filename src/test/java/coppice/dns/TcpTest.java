package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Message;
import org.xbill.DNS.Type;

class TcpTest {
    private static final Duration IDLE = Duration.ofMillis(800);

    private final FakeUpstream upstream = FakeUpstream.answering();
    private final GivenResolver given = new GivenResolver(settings());

    private ResolverSettings settings() {
        var usual = GivenResolver.settings(upstream);
        return new ResolverSettings(
                usual.forwarding(), usual.cache(), usual.perClient(), usual.inAll(), IDLE);
    }

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    @Test
    void queriesThatAreSentTogetherAreAllAnswered() throws IOException {
        try (var connection = given.alice().connect()) {
            var ids = new HashSet<Integer>();
            for (int i = 0; i < 100; i++) {
                var query = Client.query("n%d.test.".formatted(i), Type.A);
                query.getHeader().setID(i);
                ids.add(i);
                connection.send(query.toWire());
            }
            for (int i = 0; i < 100; i++) {
                Message answer = connection.receive();
                int id = answer.getHeader().getID();
                assertTrue(ids.remove(id), () -> "twice: " + id);
                assertEquals("n%d.test.".formatted(id), answer.getQuestion().getName().toString());
            }
        }
    }

    @Test
    void aQueryThatTakesLongDoesNotHoldUpTheNext() throws IOException {
        given.names.name(GivenResolver.ALICE, "db", "10.0.0.7");
        var mayAnswer = new CountDownLatch(1);
        upstream.byUdp(
                query -> {
                    try {
                        mayAnswer.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return Stream.of(FakeUpstream.answer(query, "slow.test. 60 IN A 192.0.2.1"));
                });
        try (var connection = given.alice().connect()) {
            connection.send(Client.query("slow.test.", Type.A).toWire());
            assertEquals(List.of("10.0.0.7"), Client.data(connection.ask("db.", Type.A)));
            mayAnswer.countDown();
            assertEquals(List.of("192.0.2.1"), Client.data(connection.receive()));
        }
    }

    @Test
    void aQueryMayComeByteAfterByte() throws IOException {
        try (var connection = given.alice().connect()) {
            var query = Client.query("example.test.", Type.A).toWire();
            var out = connection.socket().getOutputStream();
            out.write(0);
            out.write(query.length);
            for (var b : query) {
                out.write(b);
            }
            assertEquals("example.test.", connection.receive().getQuestion().getName().toString());
        }
    }

    @Test
    void aClientThatHasClosedItsSideStillGetsItsAnswers() throws IOException {
        try (var connection = given.alice().connect()) {
            connection.send(Client.query("example.test.", Type.A).toWire());
            connection.send(Client.query("example.test.", Type.A).toWire());
            connection.socket().shutdownOutput();
            connection.receive();
            connection.receive();
            assertTrue(connection.isAtEnd());
        }
    }

    @Test
    void aConnectionThatIsIdleIsClosed() throws IOException {
        try (var connection = given.alice().connect()) {
            connection.ask("example.test.", Type.A);
            assertTrue(connection.isAtEnd());
        }
    }

    @Test
    void aConnectionWithHalfAQueryIsClosed() throws IOException {
        try (var connection = given.alice().connect()) {
            connection.socket().getOutputStream().write(new byte[] {0, 40, 1, 2, 3});
            assertTrue(connection.isAtEnd());
        }
    }

    @Test
    void aQueryThatTricklesDoesNotKeepAConnectionOpen() throws IOException {
        try (var connection = given.alice().connect()) {
            var out = connection.socket().getOutputStream();
            out.write(new byte[] {2, 0});
            Wait.until(
                    IDLE.multipliedBy(20),
                    () -> {
                        try {
                            out.write(0);
                            return false;
                        } catch (IOException _) {
                            return true;
                        }
                    },
                    () -> "the connection is still open");
        }
    }

    @Test
    void aConnectionThatIsUsedStaysOpen() throws IOException {
        try (var connection = given.alice().connect()) {
            Wait.through(
                    IDLE.multipliedBy(3),
                    () -> {
                        try {
                            connection.ask("example.test.", Type.A);
                        } catch (IOException e) {
                            throw new AssertionError("the connection was closed", e);
                        }
                    });
        }
    }

    @Test
    void aClientThatReadsNothingIsCutOff() throws IOException {
        var many = new String[1000];
        for (int i = 0; i < many.length; i++) {
            many[i] = "10.0.%d.%d".formatted(i / 256, i % 256);
        }
        given.names.name(GivenResolver.ALICE, "farm", many);
        try (var connection = given.alice().connect()) {
            var query = Client.query("farm.", Type.A).toWire();
            Wait.until(
                    Duration.ofSeconds(30),
                    () -> {
                        try {
                            for (int i = 0; i < 50; i++) {
                                connection.send(query);
                            }
                            return false;
                        } catch (IOException _) {
                            return true;
                        }
                    },
                    () -> "the client is still answered");
        }
    }

    @Test
    void aMessageThatIsNoQueryByItsLengthEndsTheConnection() throws IOException {
        for (var head : List.of(new byte[] {0, 0}, new byte[] {0, 11}, new byte[] {-1, -1})) {
            try (var connection = given.alice().connect()) {
                connection.socket().getOutputStream().write(head);
                assertTrue(connection.isAtEnd());
            }
        }
        assertEquals(3, given.counts().dropped());
    }

    @Test
    void aResolverThatIsClosedLetsGoOfItsClients() throws IOException {
        upstream.by(_ -> Stream.of());
        try (var idle = given.alice().connect();
                var waiting = given.bob().connect()) {
            idle.ask("absent.", Type.A);
            waiting.send(Client.query("slow.test.", Type.A).toWire());
            Wait.until(
                    Duration.ofSeconds(5),
                    () -> given.counts().forwarded() == 1,
                    () -> given.counts().toString());
            given.resolver.close();
            assertTrue(idle.isAtEnd());
            assertTrue(waiting.isAtEnd());
        }
    }
}
