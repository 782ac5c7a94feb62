package coppice.main;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.api.v5.TerminalPeer;
import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Terminals of real guests.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TerminalsIT {
    private static final int SCROLLBACK = 1 << 20;
    private static final int TAIL = 200;

    /// Writes as many bytes as it is told, of the numbers from the one that it is told on.
    private static final String WRITER =
            "stty raw -echo; echo ready; while read from n; do seq $from 99999999 | head -c $n; done";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @Test
    void whateverHappensEachByteIsSeenOnceAndInOrder() {
        var random = Seed.random(TerminalsIT.class);
        var vm = client.createVm();
        var peer = client.terminal(vm, "?slug=writer&exec=" + encoded(WRITER));
        assertEquals(true, peer.text().requiredBool("created"));
        var said = new ByteArrayOutputStream();
        said.writeBytes("ready\n".getBytes(US_ASCII));
        peer.bytesUntil(said.toByteArray());
        for (int round = 1; round <= 16; round++) {
            int size =
                    round == 5 ? 3 << 20 : random.nextInt(random.nextInt(3) == 0 ? 600_000 : 2000);
            var expected = numbers(round * 1_000_000, size);
            peer.type("%d %d\n".formatted(round * 1_000_000, size));
            said.writeBytes(expected);
            // What is cut off before it has arrived is lost, so it must have.
            var first = size > 0 ? peer.some() : new byte[0];
            if (round % 8 == 0) {
                restartServer(random.nextBoolean());
                peer = again(vm, said.toByteArray());
            } else if (random.nextInt(3) == 0) {
                peer.cut();
                peer = again(vm, said.toByteArray());
            } else {
                if (random.nextBoolean()) {
                    pauseAndGoOn(vm, peer, random.nextBoolean());
                }
                var seen = new ByteArrayOutputStream();
                seen.writeBytes(first);
                seen.writeBytes(peer.bytes(size - first.length));
                assertArrayEquals(expected, seen.toByteArray(), "round " + round);
            }
        }
        client.post("/v5/vms/%s/stop".formatted(vm), "").expect(200);
        assertEquals(1001, peer.closed());
        assertEquals(List.of(), slugs(vm));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void theListOfAPausedVmIsRightAfterAnotherServerHasStartedToo() {
        var vm = client.createVm();
        client.terminal(vm, "?slug=one&cols=91").text();
        var ended = client.terminal(vm, "?slug=two&exec=" + encoded("kill -9 $$"));
        ended.text();
        assertEquals(137, ended.text().requiredInteger("exitCode"));
        var list = client.get(sessions(vm)).expect(200);
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        assertEquals(list, client.get(sessions(vm)).expect(200));
        restartServer(true);
        assertEquals(list, client.get(sessions(vm)).expect(200));
        assertEquals("paused", client.state(vm));
        assertEquals(
                137, client.delete(sessions(vm) + "/two").expect(200).requiredInteger("exitCode"));
        assertEquals(List.of("one"), slugs(vm));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void aShellHasATerminalOfItsOwnWithJobControl() {
        var vm = client.createVm();
        var peer = client.terminal(vm, "?cols=100&rows=30&exec=" + encoded("PS1='$ ' exec sh -i"));
        peer.text();
        peer.outputUntil("$ ");
        peer.type("stty size; echo term=$TERM; tty\n");
        var answer = peer.outputUntil("/dev/pts/");
        assertTrue(answer.contains("30 100\r\n"), answer);
        assertTrue(answer.contains("term=xterm-256color\r\n"), answer);
        runsInFront(peer);
        peer.type("\u0003");
        peer.type("echo status $?\n");
        peer.outputUntil("status 130\r\n");
        runsInFront(peer);
        peer.type("\u001a");
        peer.outputUntil("Stopped");
        peer.type("fg\n");
        peer.outputUntil("back\r\n");
        peer.say("{\"type\":\"signal\",\"signal\":\"sigint\"}");
        peer.type("echo ended $?\n");
        peer.outputUntil("ended 130\r\n");
        peer.type("printf '\\033[31m\\303\\244\\342\\202\\254\\n'\n");
        peer.outputUntil("\u001b[31m\u00c3\u00a4\u00e2\u0082\u00ac\r\n");
        peer.say("{\"type\":\"signal\",\"signal\":\"sigkill\"}");
        assertEquals(137, peer.textAfterOutput().requiredInteger("exitCode"));
        client.delete("/v5/vms/" + vm).expect(204);
        assertEquals(1001, peer.closed());
    }

    @Test
    void aTerminalOfAnIdentityIsClosedWhenTheIdentityIsDeleted() {
        var vm = client.createVm();
        var identity = client.post("/v5/identities", "").expect(200).requiredString("id");
        var own = "/v5/identities/" + identity;
        var token = client.post(own + "/tokens", "").expect(200).requiredString("token");
        var grant = "{\"vmId\":\"%s\",\"allowedLinuxUsers\":[\"root\"]}".formatted(vm);
        client.post(own + "/permissions/vm", grant).expect(200);
        client.terminal(vm, "?linuxUser=nobody&exec=cat");
        var peer = client.terminal(vm, "?linuxUser=root", token);
        peer.text();
        peer.type("id -un\n");
        peer.outputUntil("\r\nroot\r\n");
        var holder = client.withToken(token);
        assertEquals(
                List.of(2L),
                holder
                        .get("/v5/vms/%s/pty/sessions".formatted(vm))
                        .expect(200)
                        .requiredObjects("sessions")
                        .stream()
                        .map(session -> session.requiredInteger("sessionId"))
                        .toList());
        var terminals = "/v1/vms/%s/terminals".formatted(vm);
        assertEquals(1, holder.get(terminals).expect(200).requiredObjects("terminals").size());
        holder.get(terminals + "/1/logs").expect(404, "NOT_FOUND");
        assertTrue(
                holder.get(terminals + "/2/xterm-256color")
                        .expect(200)
                        .requiredString("output")
                        .contains("root"));
        client.delete(own).expect(204);
        assertEquals(1008, peer.closed());
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void theLegacyFamilyShowsWhatACommandSaidInATerminal() {
        var vm = client.createVm();
        var body = "{\"command\":\"printf '\\\\033[1mbold\\\\033[0m\\\\n'\",\"terminal\":\"log\"}";
        var outcome = client.post("/v1/vms/%s/exec-await".formatted(vm), body).expect(200);
        assertEquals("\u001b[1mbold\u001b[0m\n", outcome.requiredString("stdout"));
        var terminals = "/v1/vms/%s/terminals".formatted(vm);
        var listed = client.get(terminals).expect(200).requiredObjects("terminals").getFirst();
        assertEquals("log", listed.requiredString("name"));
        assertEquals("running", listed.requiredString("status"));
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        assertEquals(1, client.get(terminals).expect(200).requiredObjects("terminals").size());
        client.get(terminals + "/none/logs").expect(404, "NOT_FOUND");
        assertEquals("paused", client.state(vm));
        var lines = client.get(terminals + "/log/logs").expect(200).requiredObjects("logs");
        assertTrue(lines.stream().anyMatch(line -> line.requiredString("line").endsWith("bold")));
        var output = client.get(terminals + "/1/xterm-256color").expect(200);
        assertTrue(output.requiredString("output").contains("\u001b[1mbold\u001b[0m\r\n"));
        client.get(terminals + "/none/xterm-256color").expect(404, "NOT_FOUND");
        client.with("X-Svc-Vm-Linux-User-Id", "nobody")
                .get(terminals + "/log/logs")
                .expect(404, "NOT_FOUND");
        client.get("/v1/vms/none/terminals").expect(404, "VM_NOT_FOUND");
        assertEquals(400, client.refusedTerminal(vm, "?linuxUser=nobody-here"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    /// Starts a program that says when it is in the foreground, at first and again.
    private static void runsInFront(TerminalPeer peer) {
        peer.type("sh -c 'trap \"echo back\" CONT; echo up; while :; do sleep 0.2; done'\n");
        peer.outputUntil("\r\nup\r\n");
    }

    @Test
    void aProgramSeesThatItsTerminalHasAnotherSize() {
        var vm = client.createVm();
        var program = "trap 'stty size; echo seen' WINCH; echo up; while :; do sleep 0.2; done";
        var peer = client.terminal(vm, "?exec=" + encoded(program));
        peer.text();
        peer.outputUntil("up\r\n");
        peer.say("{\"type\":\"resize\",\"cols\":33,\"rows\":44}");
        assertEquals("44 33\r\nseen\r\n", peer.outputUntil("seen\r\n"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    /// Somebody types, or starts the VM.
    private void pauseAndGoOn(String vm, TerminalPeer peer, boolean byTyping) {
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        assertEquals(List.of("writer"), slugs(vm));
        if (byTyping) {
            peer.type("0 0\n"); // and nothing is said
        } else {
            client.post("/v5/vms/%s/start".formatted(vm), "").expect(200);
        }
    }

    /// Attaches again: all that is said from now on comes, and before it at least what is kept.
    private TerminalPeer again(String vm, byte[] said) {
        var peer = client.terminal(vm, "?slug=writer");
        assertEquals(false, peer.text().requiredBool("created"));
        var tail = Arrays.copyOfRange(said, Math.max(0, said.length - TAIL), said.length);
        var seen = peer.bytesUntil(tail);
        assertTrue(seen.length >= Math.min(said.length, SCROLLBACK), () -> seen.length + " bytes");
        assertArrayEquals(Arrays.copyOfRange(said, said.length - seen.length, said.length), seen);
        return peer;
    }

    private void restartServer(boolean inOrder) {
        if (inOrder) {
            installation.stopServer();
        } else {
            installation.killServer();
        }
        installation.startServer();
    }

    private List<String> slugs(String vm) {
        return client.get(sessions(vm)).expect(200).requiredObjects("sessions").stream()
                .map(session -> session.requiredString("slug"))
                .toList();
    }

    private static String sessions(String vm) {
        return "/v5/vms/%s/pty/sessions".formatted(vm);
    }

    /// What `seq` writes from this number on.
    private static byte[] numbers(int from, int size) {
        var text = new StringBuilder();
        IntStream.iterate(from, i -> text.length() < size, i -> i + 1)
                .forEach(i -> text.append(i).append('\n'));
        return text.substring(0, size).getBytes(US_ASCII);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
