package coppice.main;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// A VM whose agent is older than the server: it goes on, does what its agent knows, and says of the rest why not.
class OldAgentIT {
    private static final String AGENT = "/usr/sbin/coppice-agent";

    @Test
    void whatAnOldAgentDoesNotKnowIsRefusedInClearWordsAndTheRestWorks() {
        try (var installation = Installation.start()) {
            var client = installation.client("main");
            var vm = client.createVm();
            client.run(vm, "echo here > /root/file");
            age(client, vm, "file.read", "pty.open");

            var read = client.get(files(vm, "read", "/root/file"));
            read.expect(409, "AGENT_UNSUPPORTED");
            assertTrue(
                    read.message().contains(vm) && read.message().contains("update the agent"),
                    read.message());
            client.get("/v5/vms/%s/pty/sessions".formatted(vm)).expect(200);
            assertEquals(409, client.refusedTerminal(vm, ""));

            assertEquals("here", client.run(vm, "cat /root/file"));
            client.send("PUT", files(vm, "write", "/root/file"), "there".getBytes(ISO_8859_1))
                    .expect(204);
            client.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
            assertEquals("there", client.run(vm, "cat /root/file"));
            var fork = client.post("/v5/vms/%s/fork".formatted(vm), "{}").expect(200);
            var copy = fork.requiredObjects("vms").getFirst().requiredString("id");
            assertEquals(copy, client.run(copy, "hostname"));
            installation.killServer();
            installation.startServer();
            client.get(files(vm, "read", "/root/file")).expect(409, "AGENT_UNSUPPORTED");
            assertEquals("there", client.run(vm, "cat /root/file"));
        }
    }

    private static String files(String vm, String verb, String path) {
        return "/v5/vms/%s/fs/%s?path=%s".formatted(vm, verb, path);
    }

    /// Has the VM's agent be one that does not know these operations: it knows them under other names.
    private static void age(Client client, String vm, String... operations) {
        var program =
                new String(client.get(files(vm, "read", AGENT)).response().body(), ISO_8859_1);
        for (var operation : operations) {
            assertTrue(program.contains(operation + "\0"), operation);
            program = program.replace(operation + "\0", "x" + operation.substring(1) + "\0");
        }
        client.send("PUT", files(vm, "write", AGENT), program.getBytes(ISO_8859_1)).expect(204);
        client.run(vm, "(sleep 0.2; killall -9 coppice-agent) >/dev/null 2>&1 &");
        Wait.until(
                Duration.ofSeconds(20),
                () -> readStatus(client, vm) == 409,
                () -> "the agent is as it was");
    }

    /// 0 of an answer that was cut with the agent that gave it.
    private static int readStatus(Client client, String vm) {
        try {
            return client.get(files(vm, "read", AGENT)).status();
        } catch (UncheckedIOException e) {
            return 0;
        }
    }
}
