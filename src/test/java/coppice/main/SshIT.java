package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/// Logins by SSH, with OpenSSH's own client.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SshIT {
    @AutoClose private Installation installation;
    private Client client;
    private Ssh ssh;
    private String vm;

    @BeforeAll
    void start(@TempDir Path directory) {
        installation =
                Installation.start(Map.of("COPPICE_SSH_PORT", Integer.toString(Ssh.PORT), "COPPICE_LOG_LEVEL", "DEBUG"));
        client = installation.client("main");
        ssh = new Ssh(installation.address(), directory);
        vm = client.createVm();
    }

    private String login(String vm, String more) {
        var identity =
                "/v5/identities/"
                        + client.post("/v5/identities", "").expect(200).requiredString("id");
        client.post(identity + "/permissions/vm", "{\"vmId\":\"%s\"}".formatted(vm)).expect(200);
        var token = client.post(identity + "/tokens", "").expect(200).requiredString("token");
        return vm + more + ":" + token;
    }

    @Test
    void explore() throws Exception {
        var login = login(vm, "");
        for (var line : new String[] {"echo hello; echo oops >&2; exit 3", "id; env; tty", "head -c 20000000 /dev/zero | md5sum", "kill -TERM $$; sleep 1", "cat | wc -c"}) {
            long at = System.nanoTime();
            var said = ssh.run(login, new byte[3_000_000], ssh.host(), line);
            System.out.println(line + " -> " + said.status() + " out=" + said.text() + " err=" + said.stderr() + " ms=" + (System.nanoTime() - at) / 1000000);
        }
        long at = System.nanoTime();
        var said = ssh.run(login, new byte[0], ssh.host(), "head -c 50000000 /dev/zero; echo x >&2");
        System.out.println(said.status() + " " + said.stdout().length + said.stderr()+ " ms=" + (System.nanoTime() - at) / 1000000);
        at = System.nanoTime();
        said = ssh.run(login, new byte[50_000_000], ssh.host(), "cat");
        System.out.println(said.status() + " " + said.stdout().length + said.stderr()+ " ms=" + (System.nanoTime() - at) / 1000000);
        said = ssh.run(login, "echo typed; stty size; echo $TERM; exit 7\n".getBytes(), "-tt", ssh.host());
        System.out.println(said.status() + " " + said.text() + said.stderr());
        said = ssh.run(login, "echo typed; exit 7\n".getBytes(), "-T", ssh.host());
        System.out.println(said.status() + " " + said.text() + said.stderr());
        System.out.println(java.nio.file.Files.readString(installation.data().resolve("server.log")));
        assertEquals(1, 2);
    }
}
