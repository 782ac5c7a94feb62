package coppice.api.v5;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The protocol of terminals, spoken with a real WebSocket client, in front of a double of the guest.
class TerminalRoutesTest {
    private final TerminalServer server = new TerminalServer();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void allWhoAreAttachedToATerminalSeeItAndMayTypeUntilItIsClosed() {
        var first = server.open("?slug=main&cols=100&rows=30&linuxUser=app");
        assertEquals(info(1, "main", true), first.text());
        first.type("hello");
        assertEquals("hello", first.output(5));
        var second = server.open("?slug=main&cols=7&exec=ls");
        assertEquals(info(1, "main", false), second.text());
        assertEquals("hello", second.output(5), "what is kept comes first");
        var third = server.open("/sessions/1?linuxUser=app");
        assertEquals(info(1, "main", false), third.text());
        assertEquals("hello", third.output(5));
        third.type("!");
        for (var peer : Set.of(first, second, third)) {
            assertEquals("!", peer.output(1), "all see what any types");
        }
        assertEquals(
                JsonObject.of(Map.of("sessionId", 1)),
                server.ada().delete("/v5/vms/web/pty/sessions/main").expect(200));
        for (var peer : Set.of(first, second, third)) {
            assertEquals(1000, peer.closedNext());
        }
        server.ada().delete("/v5/vms/web/pty/sessions/1").expect(404, "NOT_FOUND");
    }

    @Test
    void theListShowsSessionsFieldByField() {
        server.open("?slug=main&cols=100&rows=30&linuxUser=app").text();
        var plain = server.open("");
        assertEquals(
                JsonObject.of(Map.of("type", "sessionInfo", "sessionId", 2, "created", true)),
                plain.text());

        var listed = server.ada().get("/v5/vms/web/pty/sessions").expect(200);
        var sessions = listed.requiredObjects("sessions");
        assertEquals(2, sessions.size());
        assertEquals(
                JsonObject.of(
                        Map.of(
                                "sessionId", 1,
                                "state", "running",
                                "createdUnix", 1_767_323_045,
                                "cols", 100,
                                "rows", 30,
                                "linuxUser", "app",
                                "slug", "main")),
                sessions.getFirst());
        assertEquals(
                Set.of("sessionId", "state", "createdUnix", "cols", "rows", "linuxUser"),
                sessions.getLast().fields());
        assertEquals(80, sessions.getLast().requiredInteger("cols"));
        assertEquals(24, sessions.getLast().requiredInteger("rows"));
    }

    @Test
    void anEndedTerminalShowsItsOutputAndItsStatusAndStaysOpenUntilItIsClosed() {
        var peer = server.open("?slug=job");
        peer.text();
        peer.type("abc");
        assertEquals("abc", peer.output(3));
        peer.type("exit 7");
        assertEquals(exited(7), peer.text());
        peer.type("more"); // nobody hears it
        var later = server.open("?slug=job");
        assertEquals(info(1, "job", false), later.text());
        assertEquals("abc", later.output(3));
        assertEquals(exited(7), later.text());
        var session =
                server.ada()
                        .get("/v5/vms/web/pty/sessions")
                        .expect(200)
                        .requiredObjects("sessions")
                        .getFirst();
        assertEquals("exited", session.requiredString("state"));
        assertEquals(7, session.requiredInteger("exitCode"));
        assertEquals(
                JsonObject.of(Map.of("sessionId", 1, "exitCode", 7)),
                server.ada().delete("/v5/vms/web/pty/sessions/1").expect(200));
        assertEquals(1000, peer.closedNext());
        assertEquals(1000, later.closedNext());
    }

    @Test
    void controlFramesReachTheGuestAndAnyOtherTextIsAnErrorAndNeverInput() {
        var peer = server.open("");
        peer.text();
        peer.say("{\"type\":\"resize\",\"cols\":120,\"rows\":1000}");
        peer.say("{\"type\":\"signal\",\"signal\":\"sigint\"}");
        assertEquals("\u0002", peer.output(1)); // the double shows signals
        assertEquals("120x1000", server.given.guest().size(1));
        peer.say("{\"type\":\"signal\",\"signal\":\"sigkill\"}");
        assertEquals("\u0009", peer.output(1));
        for (var frame :
                Set.of(
                        "ls\n",
                        "",
                        "{}",
                        "[]",
                        "{\"type\":\"close\"}",
                        "{\"type\":\"resize\",\"cols\":0,\"rows\":1}",
                        "{\"type\":\"resize\",\"cols\":1,\"rows\":1001}",
                        "{\"type\":\"resize\",\"cols\":1}",
                        "{\"type\":\"resize\",\"cols\":\"1\",\"rows\":1}",
                        "{\"type\":\"signal\",\"signal\":\"sigterm\"}",
                        "{\"type\":\"signal\",\"signal\":2}")) {
            peer.say(frame);
            var error = peer.text();
            assertEquals("error", error.requiredString("type"), frame);
            assertFalse(error.requiredString("message").isEmpty());
        }
        peer.type("on");
        assertEquals("on", peer.output(2));
        assertEquals("120x1000", server.given.guest().size(1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?cols=0", "?cols=1001", "?rows=0", "?rows=99999999999999999999", "?rows=x",
                "?slug=12", "?slug=Main", "?slug=a_b", "?linuxUser=A", "?replaceOnExit=yes",
                "?exec=a%00b", "/sessions/1?linuxUser=A"
            })
    void aBadQueryIsRefusedBeforeTheUpgrade(String path) {
        assertEquals(400, server.refused(path));
        assertFalse(server.given.isUsed());
    }

    @Test
    void whatIsAbsentOrTakenOrTooManyIsRefusedBeforeTheUpgrade() {
        for (var session : Set.of("1", "none", "0", "No_Slug", "123456789012345678901234567890")) {
            assertEquals(404, server.refused("/sessions/" + session), session);
            server.ada().delete("/v5/vms/web/pty/sessions/" + session).expect(404, "NOT_FOUND");
        }
        server.open("?slug=mine&linuxUser=app").text();
        assertEquals(404, server.refused("/sessions/mine?linuxUser=root"));
        server.ada().delete("/v5/vms/web/pty/sessions/1?linuxUser=root").expect(404, "NOT_FOUND");
        assertEquals(409, server.refused("?slug=mine&linuxUser=root"));
        assertEquals(503, server.refused("?exec=fail"));
        for (int number = 2; number <= 64; number++) {
            server.open("").text();
        }
        assertEquals(409, server.refused(""));
        var other = UUID.randomUUID().toString();
        assertEquals(404, TerminalPeer.refused(server.address("web", ""), other));
        assertEquals(
                404,
                TerminalPeer.refused(
                        server.address("gone", "?cols=0"), server.given.ada().toString()));
        server.ada().as(UUID.fromString(other)).get("/v5/vms/web/pty/sessions").expect(404);
    }

    @Test
    void aRefusedWakeIsAPlainAnswerAndARequestWithoutUpgradeIsToldToUpgrade() {
        server.ada().get("/v5/vms/web/pty").expect(426, "UPGRADE_REQUIRED");
        server.ada().get("/v5/vms/web/pty/sessions/1").expect(426, "UPGRADE_REQUIRED");
        server.given.pause();
        server.given.refuse(new Failure(Code.CONFLICT, "there is no room"));
        assertEquals(409, server.refused(""));
        assertEquals(409, server.refused("/sessions/1"));
        server.given.refuse(new Failure(Code.VM_START_TIMEOUT, "too slow"));
        assertEquals(504, server.refused(""));
    }

    @Test
    void theListIsOfOneUserWhenThatIsAsked() {
        server.open("?linuxUser=app").text();
        server.open("?linuxUser=root").text();
        server.open("?linuxUser=app").text();
        assertEquals(3, count(""));
        assertEquals(2, count("?linuxUser=app"));
        assertEquals(0, count("?linuxUser=nobody"));
    }

    private int count(String query) {
        return server.ada()
                .get("/v5/vms/web/pty/sessions" + query)
                .expect(200)
                .requiredObjects("sessions")
                .size();
    }

    @Test
    void aWakeOpensTheTerminalOfAVmThatRests() {
        server.given.pause();
        server.open("").text();
        assertEquals(1, server.given.wakes());
        server.given.stop();
        server.open("?slug=a").text();
        assertEquals(2, server.given.wakes());
    }

    @Test
    void allThatIsTypedAndSaidArrivesOnceAndInOrderWhateverItsSize() {
        var random = Seed.random(TerminalRoutesTest.class);
        var peer = server.open("");
        peer.text();
        for (int round = 0; round < 30; round++) {
            var bytes = new byte[1 + (round == 0 ? (1 << 20) - 1 : random.nextInt(300_000))];
            random.nextBytes(bytes);
            peer.type(bytes);
            assertArrayEquals(bytes, peer.bytes(bytes.length));
        }
    }

    @Test
    void aFrameOfMoreThanOneMebibyteIsTooLarge() {
        var peer = server.open("");
        peer.text();
        peer.type(new byte[(1 << 20) + 1]);
        assertEquals(1009, peer.closed());
    }

    @Test
    void whoDoesNotReadIsCutOffWhenItIsEightMebibytesBehindAndOthersAreNot() {
        var slow = server.open("?slug=much");
        slow.text();
        server.given.guest().say(1, new byte[40 << 20]);
        await(() -> server.given.guest().viewers(1) == 0);
        assertEquals(1008, slow.closed());
        var other = server.open("?slug=much");
        other.text();
        assertEquals(40 << 20, other.bytes(40 << 20).length);
    }

    @Test
    void closingTheSocketOrGoingAwayDetachesAndTheSessionGoesOn() {
        var closing = server.open("?slug=kept");
        closing.text();
        var going = server.open("?slug=kept");
        going.text();
        assertEquals(2, server.given.guest().viewers(1));
        closing.close();
        going.cut();
        await(() -> server.given.guest().viewers(1) == 0);
        assertEquals(info(1, "kept", false), server.open("?slug=kept").text());
    }

    @Test
    void aStoppingServerIsTold() {
        var peer = server.open("");
        peer.text();
        Thread.ofVirtual().start(server::stopServer);
        assertEquals(1001, peer.closedNext());
    }

    static void await(java.util.function.BooleanSupplier isSo) {
        coppice.Wait.until(java.time.Duration.ofSeconds(30), isSo, () -> "it did not come to that");
    }

    static JsonObject info(int session, String slug, boolean created) {
        return JsonObject.of(
                Map.of(
                        "type",
                        "sessionInfo",
                        "sessionId",
                        session,
                        "slug",
                        slug,
                        "created",
                        created));
    }

    static JsonObject exited(int code) {
        return JsonObject.of(Map.of("type", "exited", "exitCode", code));
    }
}
