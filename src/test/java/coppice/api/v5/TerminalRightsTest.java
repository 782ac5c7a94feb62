package coppice.api.v5;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.api.ApiCaller;
import coppice.identity.LinuxUsers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What an identity may do with terminals, and that whoever has lost the right to look sees nothing more.
class TerminalRightsTest {
    private static final String SESSIONS = "/v5/vms/web/pty/sessions";

    private final TerminalServer server = new TerminalServer();

    @AfterEach
    void close() {
        server.close();
    }

    private ApiCaller as(UUID identity) {
        return server.ada().withToken(identity.toString());
    }

    private static LinuxUsers only(String... users) {
        return LinuxUsers.only("allowedLinuxUsers", List.of(users));
    }

    private static List<Long> listed(ApiCaller caller, String query) {
        return caller.get(SESSIONS + query).expect(200).requiredObjects("sessions").stream()
                .map(session -> session.requiredInteger("sessionId"))
                .toList();
    }

    @Test
    void anIdentityUsesTerminalsOfWhomItMayActAsAndOthersAreAsAbsent() {
        server.open("?slug=deep&linuxUser=root").text();
        var identity = server.identity(only("app"));
        var holder = as(identity);
        holder.upgrade("/v5/vms/web/pty").expect(400, "BAD_REQUEST");
        holder.upgrade("/v5/vms/web/pty?linuxUser=root").expect(403, "LINUX_USER_NOT_ALLOWED");
        var mine = server.open(identity, "?linuxUser=app&slug=mine");
        mine.text();
        assertEquals(List.of(1L, 2L), listed(server.ada(), ""));
        assertEquals(List.of(2L), listed(holder, ""));
        assertEquals(List.of(2L), listed(holder, "?linuxUser=app"));
        holder.get(SESSIONS + "?linuxUser=root").expect(403, "LINUX_USER_NOT_ALLOWED");
        server.open(identity, "/sessions/mine").text();
        for (var method : List.of("GET", "DELETE")) {
            var none = answered(holder, method, "/77");
            assertEquals("404 ", none.substring(0, 4));
            assertEquals(
                    none, answered(holder, method, "/1").replace("terminal 1;", "terminal 77;"));
            assertEquals(
                    none,
                    answered(holder, method, "/deep").replace("terminal deep;", "terminal 77;"));
        }
        holder.delete(SESSIONS + "/mine").expect(200);
        assertEquals(1000, mine.closed());
        assertEquals(List.of(1L), listed(server.ada(), ""));
    }

    private static String answered(ApiCaller holder, String method, String session) {
        var answer =
                method.equals("GET")
                        ? holder.upgrade(SESSIONS + session)
                        : holder.send(method, SESSIONS + session, "");
        return answer.status() + " " + answer.text();
    }

    @Test
    void anIdentityWithoutAGrantFindsNoVm() {
        var holder = as(UUID.randomUUID());
        holder.upgrade("/v5/vms/web/pty?linuxUser=app").expect(404, "NOT_FOUND");
        holder.upgrade(SESSIONS + "/1").expect(404, "NOT_FOUND");
        holder.get(SESSIONS).expect(404, "NOT_FOUND");
        holder.delete(SESSIONS + "/1").expect(404, "NOT_FOUND");
        assertEquals(0, server.given.wakes(), "nobody is woken for it");
    }

    @Test
    void whoeverLosesTheRightToLookIsToldAndTheOthersGoOn() {
        var kept = server.identity(LinuxUsers.ANY);
        var narrowed = server.identity(LinuxUsers.ANY);
        var ungranted = server.identity(only("app"));
        var revoked = server.identity(only("app"));
        var all = new ArrayList<TerminalPeer>();
        for (var identity : List.of(kept, narrowed, ungranted, revoked)) {
            all.add(server.open(identity, "?linuxUser=app&slug=one"));
        }
        all.add(server.open("/sessions/one"));
        all.forEach(TerminalPeer::text);

        server.isStoreDown = true;
        server.given.terminals().reconsider();
        server.isStoreDown = false;
        server.given.terminals().reconsider();
        server.given.guest().say(1, "all".getBytes(UTF_8));
        all.forEach(
                peer -> assertEquals("all", peer.output(3), "a store that is down takes nothing"));

        server.identities.put(narrowed, only("root"));
        server.identities.remove(ungranted);
        server.revokedTokens.add(revoked);
        server.given.terminals().reconsider();
        for (var gone : all.subList(1, 4)) {
            assertEquals(1008, gone.closedNext());
        }
        server.given.guest().say(1, "still".getBytes(UTF_8));
        for (var peer : List.of(all.getFirst(), all.getLast())) {
            assertEquals("still", peer.output(5));
        }

        server.revokedKeys.add(server.given.ada().toString());
        server.given.terminals().reconsider();
        assertEquals(1008, all.getLast().closedNext());
        TerminalRoutesTest.await(() -> server.given.guest().viewers(1) == 1);
    }
}
