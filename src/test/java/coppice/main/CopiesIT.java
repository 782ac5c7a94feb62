package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Copies are never twins, of each other or of their source, not even in their first command; and a resume is no copy.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CopiesIT {
    private static final String IDENTITY =
            "cat /proc/sys/kernel/random/uuid; head -c 32 /dev/urandom | sha256sum; cat /etc/machine-id; hostname";

    private static final String NAMES =
            "cat /etc/hostname /etc/machine-id; grep 127.0.1.1 /etc/hosts";

    /// Files that a copy cannot write over in place, since its own are of another length.
    private static final String SHORTEN =
            "cd /etc; chmod 644 machine-id; : > machine-id; echo short > hostname; sed -i 's/127.0.1.1.*/127.0.1.1 short/' hosts; sync";

    /// Notes who it runs for, and so that it runs before anything else can look.
    private static final String HOOK =
            "mkdir -p /etc/coppice/fork.d; printf '#!/bin/sh\\necho $(hostname) >> /etc/hooked\\n' > /etc/coppice/fork.d/10-note;"
                    + " chmod 755 /etc/coppice/fork.d/10-note; echo 'exit 1' > /etc/coppice/fork.d/README";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @Test
    void eightCopiesAskedAtOnceDifferInTheirFirstCommand() throws Exception {
        var source = client.createVm();
        var mine = client.run(source, IDENTITY);
        var copies = fork(client, source, 8);
        assertEquals(8, copies.size());

        var found = AtOnce.call(8, i -> client.run(copies.get(i), IDENTITY));

        requireAllDifferent(mine, found);
        for (int i = 0; i < 8; i++) {
            assertTrue(found.get(i).endsWith("\n" + copies.get(i)), found.get(i));
        }
        for (var copy : List.of(source, copies.getFirst())) {
            var before = client.run(copy, "cat /etc/machine-id; hostname");
            pauseAndStart(client, copy);
            assertEquals(before, client.run(copy, "cat /etc/machine-id; hostname"));
        }
        delete(copies);
        delete(List.of(source));
    }

    /// @param found some lines of each copy, none of which may be anybody else's
    private static void requireAllDifferent(String source, List<String> found) {
        var lines = new ArrayList<>(source.lines().toList());
        found.forEach(text -> lines.addAll(text.lines().toList()));
        assertEquals(source.lines().count() * (found.size() + 1), lines.size());
        assertEquals(lines.size(), new HashSet<>(lines).size(), () -> "twins: " + lines);
    }

    @Test
    void aCopyIsStillItselfAfterAPowerCutRightAfterItsBirth() {
        var source = client.createVm();
        client.run(source, SHORTEN);
        var copy = fork(client, source, 1).getFirst();
        var before = client.run(copy, NAMES);

        // What is stopped while it is paused has written nothing out: its disk is as after a power
        // cut.
        client.post("/v5/vms/%s/pause".formatted(copy), "{}").expect(200);
        client.post("/v5/vms/%s/stop".formatted(copy), "{}").expect(200);
        client.post("/v5/vms/%s/start".formatted(copy), "{}").expect(200);

        assertEquals(before, client.run(copy, NAMES));
        assertEquals(3, before.lines().count(), before);
        assertEquals(2, before.split(copy, -1).length - 1, before);
        delete(List.of(source, copy));
    }

    @Test
    void aHookRunsInEveryCopyBeforeItsFirstCommandAndInNoResume() {
        var source = client.createVm();
        client.run(source, HOOK);

        var copies = fork(client, source, 2);
        for (var copy : copies) {
            assertEquals(copy, client.run(copy, "cat /etc/hooked"));
            pauseAndStart(client, copy);
            assertEquals(copy, client.run(copy, "cat /etc/hooked"), "a resume runs no hook");
        }
        var copyOfCopy = fork(client, copies.getFirst(), 1).getFirst();
        assertEquals(
                copies.getFirst() + "\n" + copyOfCopy, client.run(copyOfCopy, "cat /etc/hooked"));

        client.post("/v5/vms/%s/stop".formatted(source), "{}").expect(200);
        var ofStopped = fork(client, source, 1).getFirst();
        assertEquals(ofStopped, client.run(ofStopped, "cat /etc/hooked"));
        assertEquals("none", client.run(source, "cat /etc/hooked 2>/dev/null || echo none"));
        delete(copies);
        delete(List.of(source, copyOfCopy, ofStopped));
    }

    @Test
    void aHookThatFailsFailsTheForkAndTheCreateAndLeavesNoVm() {
        var source = client.createVm();
        client.run(
                source,
                "mkdir -p /etc/coppice/fork.d; printf '#!/bin/sh\\nexit 3\\n' > /etc/coppice/fork.d/bad;"
                        + " chmod 755 /etc/coppice/fork.d/bad; head -c 4m /dev/urandom > /dev/shm/kept");
        var hash = client.run(source, "sha256sum /dev/shm/kept");
        var before = client.get("/v5/vms").expect(200).requiredInteger("totalCount");

        for (int count : new int[] {1, 3}) {
            var refused =
                    client.post(
                            "/v5/vms/%s/fork".formatted(source), "{\"count\":%d}".formatted(count));
            refused.expect(503, "UNAVAILABLE");
            assertTrue(refused.message().contains("fork.d/bad"), refused.message());
        }
        var snapshot =
                client.post("/v5/vms/%s/snapshot".formatted(source), "{}")
                        .expect(200)
                        .requiredString("snapshotId");
        var refused =
                client.post(
                        "/v5/vms",
                        "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}".formatted(snapshot));
        refused.expect(503, "UNAVAILABLE");
        assertTrue(refused.message().contains("fork.d/bad"), refused.message());

        assertEquals(before, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        assertEquals(hash, client.run(source, "sha256sum /dev/shm/kept"), "the source goes on");
        pauseAndStart(client, source);
        assertEquals(hash, client.run(source, "sha256sum /dev/shm/kept"), "it can still resume");
        client.run(source, "rm /etc/coppice/fork.d/bad");
        delete(fork(client, source, 1));
        client.delete("/v5/snapshots/" + snapshot).expect(204);
        delete(List.of(source));
        requireNoStrangers();
    }

    private void requireNoStrangers() {
        var ids = new java.util.TreeSet<String>();
        client.get("/v5/vms?limit=100")
                .expect(200)
                .requiredObjects("vms")
                .forEach(vm -> ids.add(vm.requiredString("id")));
        var image = client.get("/v5/snapshots/svc%2Fbusybox").expect(200).requiredString("id");
        new Remains(installation).require(ids, Set.of(image));
    }

    @Test
    void copiesOfADebianHaveSshHostKeysOfTheirOwnAndAResumeKeepsThem() throws Exception {
        var keygen = Path.of("/usr/bin/ssh-keygen");
        Assumptions.assumeTrue(
                Files.exists(keygen), "needs ssh-keygen on this machine: the image has none");
        try (var other =
                Installation.start(
                        Map.of(
                                "COPPICE_IMAGES",
                                "busybox,debian",
                                "COPPICE_IMAGE_DEFAULT",
                                "debian"))) {
            var caller = other.client("main");
            var source = caller.createVm();
            put(caller, source, Files.readAllBytes(keygen), keygen);
            caller.run(
                    source,
                    "mkdir -p /etc/ssh && ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key");
            var copies = fork(caller, source, 2);

            var keys = new TreeMap<String, String>();
            for (var vm : List.of(source, copies.get(0), copies.get(1))) {
                keys.put(vm, keys(caller, vm));
            }
            requireAllDifferent(
                    keys.get(source), List.of(keys.get(copies.get(0)), keys.get(copies.get(1))));
            for (var vm : keys.keySet()) {
                pauseAndStart(caller, vm);
                assertEquals(keys.get(vm), keys(caller, vm), "a resume keeps the key");
            }
        }
    }

    /// The public key that belongs to the private one, which the file beside it must say too.
    private static String keys(Client caller, String vm) {
        return caller.run(
                vm,
                "cd /etc/ssh && key=$(ssh-keygen -y -f ssh_host_ed25519_key | cut -d' ' -f2)"
                        + " && grep -q \"$key\" ssh_host_ed25519_key.pub && echo $key; cat /etc/machine-id; hostname");
    }

    private static void put(Client caller, String vm, byte[] bytes, Path file) {
        int part = 1 << 19;
        for (int at = 0; at < bytes.length; at += part) {
            var some = java.util.Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + part));
            var answer =
                    caller.post(
                            "/v5/vms/%s/exec-await".formatted(vm),
                            Client.exec("cat >> %s && chmod 755 %s".formatted(file, file), some));
            assertEquals(0, answer.expect(200).requiredInteger("statusCode"));
        }
    }

    private static List<String> fork(Client caller, String vm, int count) {
        return caller
                .post("/v5/vms/%s/fork".formatted(vm), "{\"count\":%d}".formatted(count))
                .expect(200)
                .requiredObjects("vms")
                .stream()
                .map(copy -> copy.requiredString("id"))
                .toList();
    }

    private static void pauseAndStart(Client caller, String vm) {
        caller.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200);
        caller.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
    }

    private void delete(List<String> vms) {
        vms.forEach(vm -> client.delete("/v5/vms/" + vm).expect(204));
    }
}
