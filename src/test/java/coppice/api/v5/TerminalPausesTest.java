package coppice.api.v5;

import static coppice.api.v5.TerminalRoutesTest.await;
import static coppice.api.v5.TerminalRoutesTest.exited;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Viewers of a VM that is paused, goes on, is stopped, and whose agent is cut off.
class TerminalPausesTest {
    private final TerminalServer server = new TerminalServer();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void whateverIsCutEachByteIsSeenOnceAndInOrderByAll() {
        var random = Seed.random(TerminalPausesTest.class);
        var first = server.open("?slug=a");
        first.text();
        var second = server.open("?slug=a");
        second.text();
        var all = new ByteArrayOutputStream();
        for (int round = 0; round < 40; round++) {
            var said = new byte[random.nextInt(random.nextInt(8) == 0 ? 400_000 : 2000)];
            random.nextBytes(said);
            all.writeBytes(said);
            server.given.guest().say(1, said);
            switch (random.nextInt(4)) {
                case 0 -> server.given.cut();
                case 1 -> {
                    server.given.pause();
                    server.given.start();
                }
                case 2 -> {
                    assertArrayEquals(all.toByteArray(), first.bytes(all.size()));
                    assertArrayEquals(all.toByteArray(), second.bytes(all.size()));
                    all.reset();
                }
                default -> {}
            }
        }
        assertArrayEquals(all.toByteArray(), first.bytes(all.size()));
        assertArrayEquals(all.toByteArray(), second.bytes(all.size()));
    }

    @Test
    void whatIsTypedWakesAVmAndIsTypedOnceAndToLookOrListOrResizeDoesNotWakeIt() {
        var peer = server.open("?slug=a");
        peer.text();
        server.given.pause();
        peer.say("{\"type\":\"resize\",\"cols\":33,\"rows\":44}");
        peer.say("no frame");
        assertEquals("error", peer.text().requiredString("type"));
        assertEquals(1, list());
        assertEquals(0, server.given.wakes());
        for (int round = 1; round < 6; round++) {
            peer.type("typed");
            assertEquals("typed", peer.output(5));
            assertEquals(round, server.given.wakes());
            server.given.pause();
        }
        peer.say("{\"type\":\"signal\",\"signal\":\"sigint\"}");
        assertEquals("\u0002", peer.output(1));
        await(() -> server.given.guest().size(1).equals("33x44"));
    }

    @Test
    void anOpenSilentTerminalIsNoUseOfTheVmAndWhatIsTypedIs() {
        var peer = server.open("?slug=a");
        peer.text();
        var used = server.given.lastUse();
        server.given.guest().say(1, new byte[] {'x'});
        peer.bytes(1);
        assertEquals(used, server.given.lastUse());
        peer.type("y");
        peer.bytes(1);
        assertFalse(used.equals(server.given.lastUse()));
    }

    @Test
    void aWakeThatIsRefusedIsToldAndTheConnectionStays() {
        var peer = server.open("?slug=a");
        peer.text();
        server.given.pause();
        server.given.refuse(new Failure(Code.CONFLICT, "there is no room"));
        peer.type("lost");
        assertEquals("there is no room", peer.text().requiredString("message"));
        server.given.start();
        peer.type("heard");
        assertEquals("heard", peer.output(5));
    }

    @Test
    void aStopEndsAllViewersAndNothingIsStartedForWhatIsTyped() {
        var peer = server.open("?slug=a");
        peer.text();
        var ended = server.open("");
        ended.text();
        ended.type("exit 3");
        assertEquals(exited(3), ended.text());
        server.given.stop();
        assertEquals(1001, peer.closedNext());
        assertEquals(1001, ended.closedNext());
        assertEquals(0, list());
        assertEquals(0, server.given.wakes());
    }

    @Test
    void aSessionOfTheSameNumberInAVmThatWasStartedAnewIsAnotherOne() {
        var peer = server.open("?slug=a");
        peer.text();
        server.given.pause();
        server.given.guest().reboot();
        server.given.start();
        server.open("?slug=b").text();
        assertEquals(1001, peer.closedNext());
    }

    @Test
    void whoMissesWhatIsNotKeptAnyMoreIsClosedAndNotShownAGap() {
        var peer = server.open("?slug=a");
        peer.text();
        server.given.guest().say(1, new byte[100]);
        peer.bytes(100);
        server.given.pause();
        server.given.guest().say(1, new byte[100]);
        server.given.guest().keepFrom(150);
        server.given.start();
        assertEquals(1008, peer.closedNext());
        var again = server.open("?slug=a");
        again.text();
        assertEquals(50, again.bytes(50).length);
    }

    private int list() {
        return server.ada()
                .get("/v5/vms/web/pty/sessions")
                .expect(200)
                .requiredObjects("sessions")
                .size();
    }
}
