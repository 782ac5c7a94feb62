package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/// Who may log in by SSH, and how long.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SshAccessIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int STRANGERS = 32;

    @AutoClose private Installation installation;
    private Client client;
    private SshAccount account;
    private Ssh ssh;
    private String vm;

    @BeforeAll
    void start(@TempDir Path directory) {
        installation =
                Installation.start(
                        Map.of(
                                "COPPICE_SSH_PORT",
                                Integer.toString(Ssh.PORT),
                                "COPPICE_VM_MAX_RUNNING",
                                "1"));
        client = installation.client("main");
        account = new SshAccount(client);
        ssh = new Ssh(installation.address(), directory);
        vm = client.createVm();
        assertEquals("hello\n", hello(account.person().grant(vm).login(vm)).text());
    }

    private Ssh.Said hello(String login) {
        return ssh.run(login, ssh.host(), "echo hello");
    }

    /// Without the login name, which the client itself shows.
    private String refusal(String login) {
        var said = hello(login);
        assertEquals(255, said.status());
        assertEquals("", said.text());
        return said.stderr().replace(login, "LOGIN");
    }

    @Test
    void whoMayNotUseAVmIsToldTheSameAsIfThereWereNone() {
        var person = account.person();
        var foreign = new SshAccount(installation.client("other"));
        var vmOfOthers = foreign.client().createVm();
        var theirs = foreign.person().grant(vmOfOthers);
        var refusal = refusal(person.login("vm-00000000000000000000"));
        assertTrue(refusal.contains("Permission denied"), refusal);
        assertEquals(refusal, refusal(person.login(vmOfOthers)));
        assertEquals(refusal, refusal(person.login(vm)));
        assertEquals(refusal, refusal(theirs.login(vm)));
        assertEquals(refusal, refusal(vm + ":" + person.token().replaceAll(".$", "")));
        assertEquals(
                refusal, refusal(vm + ":sit_00000000000000000000000000000000_" + "a".repeat(43)));
        assertEquals(refusal, refusal("root"));
        assertEquals(refusal, refusal("slug:" + person.token()));
        person.grant(vm);
        assertEquals("hello\n", hello(person.login(vm)).text());
        client.delete("%s/tokens/%s".formatted(person.path(), person.tokenId())).expect(204);
        assertEquals(refusal, refusal(person.login(vm)));
    }

    @Test
    void whoMayActAsSomeMustSayAsWhomAndActsAsNobodyElse() {
        var person = account.person().grant(vm, "root");
        assertEquals("root\n", ssh.run(person.login(vm, "root"), ssh.host(), "id -un").text());
        assertTrue(refusal(person.login(vm)).contains("you may act as root"));
        assertTrue(refusal(person.login(vm, "daemon")).contains("you may not act as daemon"));
        var unrestricted = account.person().grant(vm).login(vm, "nobody-there");
        var said = hello(unrestricted);
        assertEquals(255, said.status());
        assertTrue(said.stderr().contains("has no user nobody-there"), said.stderr());
    }

    @Test
    void aSessionEndsSoonAfterItsRight() {
        var deleted = account.person().grant(vm);
        var revoked = account.person().grant(vm);
        var withdrawn = account.person().grant(vm);
        var narrowed = account.person().grant(vm, "root");
        var kept = account.person().grant(vm);
        var ended =
                List.of(
                        ssh.start(deleted.login(vm), ssh.host(), "echo begun; cat"),
                        ssh.start(revoked.login(vm), "-tt", ssh.host(), "echo begun; cat"),
                        ssh.start(withdrawn.login(vm), "-tt", ssh.host(), "echo begun; cat"),
                        ssh.start(narrowed.login(vm, "root"), ssh.host(), "echo begun; cat"));
        var goesOn = ssh.start(kept.login(vm), ssh.host(), "echo begun; cat");
        ended.forEach(process -> Ssh.await(process, "begun"));
        client.delete(deleted.path()).expect(204);
        client.delete("%s/tokens/%s".formatted(revoked.path(), revoked.tokenId())).expect(204);
        client.delete("%s/permissions/vm/%s".formatted(withdrawn.path(), vm)).expect(204);
        narrowed.grant(vm, "daemon");
        for (var process : ended) {
            Wait.until(SOON, () -> !process.isAlive(), () -> "it goes on");
            var said = Ssh.finish(process, new byte[0]);
            assertEquals(255, said.status());
            assertTrue(said.stderr().contains("revoked"), said.stderr());
        }
        assertTrue(goesOn.isAlive());
        goesOn.destroy();
    }

    @Test
    void anIdentityCanBeDeletedWhileItsConnectionCloses() {
        for (int i = 0; i < 3; i++) {
            var person = account.person().grant(vm);
            var process = ssh.start(person.login(vm), ssh.host(), "echo done; exit 6");
            Ssh.await(process, "done");
            client.delete(person.path()).expect(204);
            assertEquals(6, Ssh.finish(process, new byte[0]).status());
        }
    }

    @Test
    void whoseVmCannotBeStartedIsToldWhatToDo() {
        var full = new SshAccount(installation.client("full"));
        var first = full.client().createVm();
        full.client().post("/v5/vms/%s/kill".formatted(first), "").expect(200);
        full.client().createVm();
        for (var kind : List.of("-T", "-tt")) {
            var said =
                    ssh.run(
                            full.person().grant(first).login(first),
                            kind,
                            ssh.host(),
                            "echo hello");
            assertEquals(255, said.status());
            assertEquals("", said.text());
            assertTrue(said.stderr().contains("coppice: "), said.stderr());
            assertTrue(said.stderr().contains("VM"), said.stderr());
        }
    }

    @Test
    void strangersAreFewAndDoNotStay() throws IOException {
        var strangers = new ArrayList<Socket>();
        try {
            for (int i = 0; i < STRANGERS + 5; i++) {
                var socket = new Socket();
                socket.connect(new InetSocketAddress(ssh.host(), Ssh.PORT));
                socket.setSoTimeout((int) SOON.toMillis());
                strangers.add(socket);
            }
            int refused = 0;
            for (var socket : strangers) {
                refused += said(socket, 1).isEmpty() ? 1 : 0;
            }
            assertEquals(5, refused);
            strangers.getFirst().getOutputStream().write(new byte[100_000]); // no protocol of ours
            var last = strangers.get(STRANGERS - 1);
            var farewell = said(last, Integer.MAX_VALUE); // it fails if it is not cut off
            assertTrue(farewell.contains("Protocol error"), farewell);
        } finally {
            for (var socket : strangers) {
                socket.close();
            }
        }
        Wait.until(
                SOON,
                () -> hello(account.person().grant(vm).login(vm)).status() == 0,
                () -> "nobody can log in any more");
    }

    /// What it is told, at most so many bytes, before it is cut off.
    private static String said(Socket socket, int most) throws IOException {
        try {
            var said = new StringBuilder();
            for (int next = socket.getInputStream().read(); next >= 0; ) {
                said.append((char) next);
                if (said.length() >= most) {
                    break;
                }
                next = socket.getInputStream().read();
            }
            return said.toString();
        } catch (SocketException e) {
            return ""; // reset
        }
    }

    @Test
    void theHostKeyStaysAndSessionsAreToldWhenTheServerStops() throws IOException {
        var key = installation.data().resolve("ssh_host_ed25519_key");
        assertEquals(
                PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(key));
        var person = account.person().grant(vm);
        var process = ssh.start(person.login(vm), ssh.host(), "echo begun; exec sleep 8765");
        Ssh.await(process, "begun");
        installation.stopServer();
        var said = Ssh.finish(process, new byte[0]);
        assertEquals(255, said.status());
        assertTrue(said.stderr().contains("the server stops"), said.stderr());
        installation.startServer();
        assertEquals("hello\n", hello(person.login(vm)).text());
        assertEquals("0", client.run(vm, "pgrep -f 'sleep 876[5]' | wc -l"));
    }

    @Test
    void loginsAreRecordedAndTokensAreNot() throws IOException {
        var person = account.person().grant(vm);
        hello(person.login(vm));
        hello(person.login(vm, "root"));
        hello(person.login("vm-00000000000000000000"));
        var audit = Files.readString(installation.data().resolve("audit/audit.jsonl"));
        assertTrue(audit.contains("\"sshLogin\""), audit);
        assertTrue(audit.contains("/ssh/%s/root".formatted(vm)), audit);
        var log = Files.readString(installation.data().resolve("server.log"));
        for (var text : List.of(audit, log)) {
            assertFalse(text.contains("sit_"), text);
            assertFalse(text.contains(person.token().split("_")[2]), text);
        }
    }
}
