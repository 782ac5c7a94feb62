package coppice.api.v5;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import coppice.api.ApiCaller;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.RawPeer;
import coppice.json.Json;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The rows of the error table of contract/vm-pty.md, with their codes: clients of WebSockets see a status only.
class TerminalRefusalsTest {
    private static final String PTY = "/v5/vms/web/pty";

    private final TerminalServer server = new TerminalServer();
    private final ApiCaller ada = server.ada();

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void aRefusedHandshakeHasTheBodyOfAnyFailure() throws IOException {
        var address = server.address("web", "/sessions/7");
        try (var peer = new RawPeer(address.getPort())) {
            var answer =
                    peer.send(
                                    """
                                    GET %s HTTP/1.1
                                    Host: x
                                    Authorization: Bearer %s
                                    Connection: Upgrade
                                    Upgrade: websocket
                                    Sec-WebSocket-Version: 13
                                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

                                    """
                                            .formatted(address.getPath(), server.given.ada())
                                            .replace("\n", "\r\n"))
                            .answer();
            assertEquals(404, answer.status());
            var body = Json.parse(answer.body().getBytes(UTF_8));
            assertEquals("NOT_FOUND", body.requiredString("code"));
            assertFalse(body.requiredString("message").isEmpty());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "?cols=0",
                "?rows=1001",
                "?slug=12",
                "?slug=Main",
                "?linuxUser=A",
                "?replaceOnExit=yes",
                "?exec=a%00b",
                "?linuxUser=nobody-here",
                "/sessions/1?linuxUser=A"
            })
    void aBadQueryOrAUserThatIsAbsentIsABadRequest(String path) {
        ada.upgrade(PTY + path).expect(400, "BAD_REQUEST");
    }

    @Test
    void aBadUserIsABadRequestOfEveryCall() {
        ada.get(PTY + "/sessions?linuxUser=A").expect(400, "BAD_REQUEST");
        ada.delete(PTY + "/sessions/1?linuxUser=A").expect(400, "BAD_REQUEST");
    }

    @Test
    void whatIsAbsentOrAnotherUsersIsNotFound() {
        server.open("?slug=mine&linuxUser=app").text();
        for (var session :
                List.of("2", "none", "0", "No_Slug", "mine?linuxUser=root", "1?linuxUser=root")) {
            ada.upgrade(PTY + "/sessions/" + session).expect(404, "NOT_FOUND");
            ada.delete(PTY + "/sessions/" + session).expect(404, "NOT_FOUND");
        }
        var stranger = ada.as(UUID.randomUUID());
        for (var path : List.of(PTY, PTY + "/sessions/1")) {
            stranger.upgrade(path).expect(404, "NOT_FOUND");
            ada.upgrade(path.replace("web", "gone")).expect(404, "NOT_FOUND");
        }
        stranger.get(PTY + "/sessions").expect(404, "NOT_FOUND");
        stranger.delete(PTY + "/sessions/1").expect(404, "NOT_FOUND");
    }

    @Test
    void aSlugOfAnotherUserAndASessionTooManyAreConflicts() {
        server.open("?slug=mine&linuxUser=app").text();
        ada.upgrade(PTY + "?slug=mine&linuxUser=root").expect(409, "CONFLICT");
        for (int number = 2; number <= 64; number++) {
            server.open("").text();
        }
        ada.upgrade(PTY).expect(409, "CONFLICT");
    }

    @Test
    void aTerminalThatTheGuestCannotStartIsUnavailable() {
        ada.upgrade(PTY + "?exec=fail").expect(503, "UNAVAILABLE");
    }

    @ParameterizedTest
    @CsvSource({
        "CONFLICT, 409",
        "VM_LIMIT_EXCEEDED, 403",
        "UNAVAILABLE, 503",
        "VM_START_TIMEOUT, 504"
    })
    void aVmThatDoesNotWakeIsToldByEachCallThatNeedsIt(Code why, int status) {
        server.open("").text();
        server.given.pause();
        server.given.refuse(new Failure(why, "so it is"));
        ada.upgrade(PTY).expect(status, why.name());
        ada.upgrade(PTY + "/sessions/1").expect(status, why.name());
        ada.delete(PTY + "/sessions/1").expect(status, why.name());
        ada.get(PTY + "/sessions").expect(200);
    }

    @Test
    void whoDoesNotAskForAWebSocketIsToldTo() {
        ada.get(PTY).expect(426, "UPGRADE_REQUIRED");
        ada.get(PTY + "/sessions/1").expect(426, "UPGRADE_REQUIRED");
    }
}
