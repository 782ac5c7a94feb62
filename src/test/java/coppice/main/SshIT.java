package coppice.main;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.Wait;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/// What runs in VMs by SSH, with OpenSSH's own programs.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SshIT {
    private static final Duration SOON = Duration.ofSeconds(30);

    @AutoClose private Installation installation;
    private Client client;
    private SshAccount account;
    private Ssh ssh;
    private String vm;
    private String login;
    private Path directory;

    @BeforeAll
    void start(@TempDir Path directory) {
        this.directory = directory;
        installation =
                Installation.start(
                        Map.of(
                                "COPPICE_SSH_PORT",
                                Integer.toString(Ssh.PORT),
                                "COPPICE_IMAGES",
                                "busybox,debian"));
        client = installation.client("main");
        account = new SshAccount(client);
        ssh = new Ssh(installation.address(), directory);
        vm = client.createVm();
        login = account.person().grant(vm).login(vm);
        assertEquals(0, ssh.run(login, ssh.host(), "true").status()); // and the host key is known
    }

    @Test
    void aCommandHasItsOutputsApartAndItsExitStatus() {
        var said = ssh.run(login, ssh.host(), "echo out; echo err >&2; exit 3");
        assertEquals("out\n", said.text());
        assertEquals("err\n", said.stderr());
        assertEquals(3, said.status());
        assertEquals(0, ssh.run(login, ssh.host(), "true").status());
        // A client that is told of a signal says so by 255.
        assertEquals(255, ssh.run(login, ssh.host(), "kill -TERM $$; sleep 9").status());
        assertEquals(
                "it's a \"$HOME\"\n",
                ssh.run(login, ssh.host(), "echo \"it's a \\\"\\$HOME\\\"\"").text());
    }

    @Test
    void bytesOfAnyNumberGoBothWaysUnchanged() {
        var random = Seed.random(SshIT.class);
        for (int size : new int[] {0, 1, (1 << 20) - 1, 3_000_001}) {
            var bytes = new byte[size];
            random.nextBytes(bytes);
            assertArrayEquals(
                    bytes, ssh.run(login, bytes, ssh.host(), "cat").stdout(), "size " + size);
        }
        var said = ssh.run(login, ssh.host(), "seq 1 200000 | tee /dev/stderr");
        var numbers =
                String.join(
                                "\n",
                                IntStream.rangeClosed(1, 200_000)
                                        .mapToObj(Integer::toString)
                                        .toList())
                        + "\n";
        assertEquals(numbers, said.text());
        assertEquals(numbers, said.stderr());
    }

    @Test
    void aShellWithoutATerminalReadsItsCommands() {
        var said =
                ssh.run(
                        login,
                        "echo one; tty; exit 4\n".getBytes(StandardCharsets.US_ASCII),
                        "-T",
                        ssh.host());
        assertEquals("one\nnot a tty\n", said.text());
        assertEquals(4, said.status());
    }

    @Test
    void aTerminalHasTheSizeOfItsWindowAndJobControl() throws IOException {
        var turned = directory.resolve("turned");
        var process =
                ssh.onTerminal(
                        "stty cols 101 rows 31; (until [ -e %s ]; do sleep 0.1; done; stty cols 99 rows 33 </dev/tty) & %%s"
                                .formatted(turned),
                        login,
                        "-tt");
        type(process, "PS1=; echo t''erm $TERM, $(stty size), $(tty) $SSH_TTY, e''nd");
        var text = Ssh.await(process, ", end");
        assertTrue(
                text.matches("(?s).*term dumb-terminal, 31 101, (/dev/pts/\\d+) \\1, end"), text);
        type(process, "sleep 1000 & jobs; kill %1; wait; echo o''ver");
        var jobs = Ssh.await(process, "over");
        assertTrue(jobs.contains("Running"), jobs);
        type(process, "(echo in f''ront; exec sleep 1000)");
        Ssh.await(process, "in front");
        type(process, "\u0003echo in''terrupted $?");
        Ssh.await(process, "interrupted 130");
        Files.createFile(turned);
        type(process, "until [ \"$(stty size)\" = '33 99' ]; do sleep 0.1; done; echo t''urned");
        Ssh.await(process, "turned");
        type(process, "exit 7");
        assertEquals(7, Ssh.finish(process, new byte[0]).status());
    }

    private static void type(Process process, String line) throws IOException {
        process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.getOutputStream().flush();
    }

    @Test
    void harmlessVariablesArePassedAndNoOthers() {
        for (var kind : List.of("-T", "-tt")) {
            var said =
                    ssh.run(
                            login,
                            "-o",
                            "SetEnv=LANG=de_DE.UTF-8 LC_TIME=$(id) LD_PRELOAD=/tmp/x PATH=/tmp",
                            kind,
                            ssh.host(),
                            "echo $LANG $LC_TIME ${LD_PRELOAD-none} $PATH; echo $SSH_CONNECTION | wc -w");
            assertEquals(
                    "de_DE.UTF-8 $(id) none /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n4\n",
                    said.text().replace("\r", ""),
                    said.stderr());
        }
    }

    @Test
    void whoReadsSlowlyHoldsItsProgramBackAndLosesNothing() throws IOException {
        var slow = List.of("head -c 12000000 /dev/zero; touch /tmp/over", "-T");
        var slowTerminal =
                List.of("head -c 6000000 /dev/zero | tr '\\0' x; touch /tmp/over", "-tt");
        for (var each : List.of(slow, slowTerminal)) {
            client.run(vm, "rm -f /tmp/over");
            var process = ssh.start(login, each.get(1), ssh.host(), each.get(0));
            Wait.through(Duration.ofSeconds(3), () -> assertTrue(process.isAlive(), "it goes on"));
            assertEquals("no", client.run(vm, "test -e /tmp/over && echo yes || echo no"));
            long size = process.getInputStream().readAllBytes().length;
            assertEquals(each == slow ? 12_000_000 : 6_000_000, size);
            assertEquals(0, Ssh.finish(process, new byte[0]).status());
        }
    }

    @Test
    void manyChannelsOfOneConnectionGoOnAtOnce() throws IOException {
        var socket = directory.resolve("master").toString();
        var master = ssh.start(login, "-M", "-S", socket, "-N", ssh.host());
        Wait.until(SOON, () -> Files.exists(Path.of(socket)), () -> "there is no master");
        var running =
                IntStream.range(0, 36)
                        .mapToObj(
                                i ->
                                        ssh.start(
                                                login,
                                                "-S",
                                                socket,
                                                ssh.host(),
                                                "read x; echo %d $x".formatted(i)))
                        .toList();
        for (int i = 0; i < running.size(); i++) {
            // One that gets no channel makes a connection of its own.
            var said = Ssh.finish(running.get(i), "done\n".getBytes(StandardCharsets.US_ASCII));
            assertEquals("%d done\n".formatted(i), said.text(), said.stderr());
        }
        assertEquals("still\n", ssh.run(login, "-S", socket, ssh.host(), "echo still").text());
        assertEquals(0, ssh.run(login, "-S", socket, "-O", "exit", ssh.host()).status());
        var refusals = Ssh.finish(master, new byte[0]).stderr();
        assertEquals(5, refusals.split("at most 32 channels", -1).length, refusals);
    }

    @Test
    void aProgramIsHungUpWhenItsClientGoes() {
        for (var kind : List.of("-T", "-tt")) {
            var process = ssh.start(login, kind, ssh.host(), "echo begun; exec sleep 4321");
            Ssh.await(process, "begun");
            process.destroyForcibly();
            Wait.until(
                    SOON,
                    () -> client.run(vm, "pgrep -f 'sleep 432[1]' | wc -l").equals("0"),
                    () -> client.run(vm, "ps"));
        }
        assertEquals("0", client.run(vm, "ps | grep -c 'dd b[s]=' || true"));
    }

    @Test
    void aSilentSessionLetsItsVmPauseAndGoesOnWhenSomethingIsTyped() throws IOException {
        for (var kind : List.of("-T", "-tt")) {
            var other = client.createVm();
            var process = ssh.start(account.person().grant(other).login(other), kind, ssh.host());
            type(process, "secret=kept; echo o''ne");
            Ssh.await(process, "one");
            client.post("/v5/vms/%s/pause".formatted(other), "").expect(200);
            Wait.through(Duration.ofSeconds(1), () -> assertEquals("paused", client.state(other)));
            type(process, "echo t''wo $secret; exit 5");
            Ssh.await(process, "two kept");
            assertEquals("running", client.state(other));
            assertEquals(5, Ssh.finish(process, new byte[0]).status());
            client.delete("/v5/vms/" + other).expect(204);
        }
    }

    @Test
    void aCommandKeepsItsVmAwakeAndAShellDoesNot() {
        var other = client.createVm("{\"idleTimeoutSeconds\":2,\"firewall\":{\"rules\":[]}}");
        var person = account.person().grant(other).login(other);
        var shell = ssh.start(person, "-T", ssh.host());
        assertEquals("over\n", ssh.run(person, ssh.host(), "sleep 4; echo over").text());
        Wait.until(SOON, () -> client.state(other).equals("paused"), () -> client.state(other));
        assertTrue(shell.isAlive());
        assertEquals("woken\n", ssh.run(person, ssh.host(), "echo woken").text());
        shell.destroy();
        client.delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void connectingWakesAVm() {
        var other = client.createVm();
        client.post("/v5/vms/%s/pause".formatted(other), "").expect(200);
        var person = account.person().grant(other).login(other);
        var process = ssh.start(person, "-N", ssh.host());
        Wait.until(SOON, () -> client.state(other).equals("running"), () -> client.state(other));
        process.destroy();
        client.delete("/v5/vms/" + other).expect(204);
    }

    @Test
    void filesAreMovedBySftpAndScpWhereTheGuestHasIt() throws IOException {
        var debian = client.createVm("{\"snapshotId\":\"svc/debian\",\"firewall\":{\"rules\":[]}}");
        var person = account.person().grant(debian).login(debian);
        var bytes = new byte[2_000_003];
        Seed.random(SshIT.class).nextBytes(bytes);
        var file = ssh.file("sent", bytes);
        var batch = "put %s there\nget there %s\n".formatted(file, directory.resolve("got"));
        var said =
                ssh.tool(
                        "sftp",
                        person,
                        batch.getBytes(StandardCharsets.UTF_8),
                        "-b",
                        "-",
                        ssh.host());
        assertEquals(0, said.status(), said.stderr());
        assertArrayEquals(bytes, Files.readAllBytes(directory.resolve("got")));
        var copied = directory.resolve("copied").toString();
        var copy = ssh.tool("scp", person, new byte[0], ssh.host() + ":there", copied);
        assertEquals(0, copy.status(), copy.stderr());
        assertArrayEquals(bytes, Files.readAllBytes(Path.of(copied)));
        client.delete("/v5/vms/" + debian).expect(204);

        var without = ssh.tool("sftp", login, new byte[0], "-b", "-", ssh.host());
        assertFalse(without.status() == 0);
        assertTrue(without.stderr().contains("has no sftp-server"), without.stderr());
    }

    @Test
    void portsAndAgentsAreNotForwarded() {
        var said = ssh.run(login, "-W", "localhost:80", ssh.host());
        assertTrue(said.stderr().contains("ports are not forwarded"), said.stderr());
        assertEquals(255, said.status());
        var back =
                ssh.run(
                        login,
                        "-o",
                        "ExitOnForwardFailure=yes",
                        "-R",
                        "8080:localhost:80",
                        ssh.host(),
                        "echo ran");
        assertEquals("", back.text());
        assertEquals(255, back.status());
        assertEquals(
                "none\n", ssh.run(login, "-A", ssh.host(), "echo ${SSH_AUTH_SOCK-none}").text());
    }
}
