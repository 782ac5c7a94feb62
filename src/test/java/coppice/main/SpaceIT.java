package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.process.Command;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A small data volume that fills up: what would need room is refused, what runs goes on.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SpaceIT {
    private static final long RESERVE = 512;

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation =
                Installation.start(
                        Map.of(
                                "COPPICE_DATA_VOLUME_SIZE",
                                "4096",
                                "COPPICE_NODE_DISK_RESERVE",
                                Long.toString(RESERVE)));
        client = installation.client("main");
    }

    @Test
    void whatNeedsRoomIsRefusedWholeWhileVmsGoOnAndWorksAgainWhenThereIsRoom() throws IOException {
        var vm = client.createVm("{\"slug\":\"here\",\"firewall\":{\"rules\":[]}}");
        client.run(vm, "head -c 20m /dev/urandom > /dev/shm/ram; sha256sum /dev/shm/ram > /root/s");
        var before = state();
        var filler = fill();

        refused("/v5/vms", "{\"firewall\":{\"rules\":[]}}");
        refused("/v5/vms/here/snapshot", "{\"slug\":\"taken\"}");
        refused("/v5/vms/here/fork", "{\"count\":2}");
        refused("/v5/vms/here/pause", "{}");
        refused("/v1/vms/%s/fork".formatted(vm), "{}");

        assertEquals(before, state(), "what is refused leaves nothing");
        client.run(vm, "sha256sum -c /root/s; head -c 20m /dev/urandom > /root/disk; sync");
        assertEquals("running", client.state(vm));

        Files.delete(filler);
        awaitFree(RESERVE + 1024);
        everythingWorks(vm);
    }

    private void everythingWorks(String vm) throws IOException {
        var made = client.createVm();
        var snapshot =
                client.post("/v5/vms/here/snapshot", "{\"slug\":\"taken\"}")
                        .expect(200)
                        .requiredString("snapshotId");
        var copies = client.post("/v5/vms/here/fork", "{\"count\":2}").expect(200);
        client.post("/v5/vms/here/pause", "{}").expect(200);
        client.run(vm, "sha256sum -c /root/s");
        for (var copy : copies.requiredObjects("vms")) {
            client.run(copy.requiredString("id"), "sha256sum -c /root/s");
            client.delete("/v5/vms/" + copy.requiredString("id")).expect(204);
        }
        client.delete("/v5/vms/" + made).expect(204);
        client.delete("/v5/snapshots/" + snapshot).expect(204);
        client.delete("/v5/vms/" + vm).expect(204);
        assertEquals(List.of(), groups());
    }

    @Test
    void aGuestThatWritesToAFullVolumeWaitsForRoomAndLosesNothing() throws IOException {
        var vm = client.createVm();
        var filler = fill();
        Command.of("sh", "-c", "cat /dev/zero > " + filler + "-too").run(soon());
        assertEquals(0, free());
        assertEquals("hello", client.run(vm, "echo hello"));
        client.run(
                vm,
                "setsid sh -c 'head -c 30m /dev/urandom > /root/disk; sync;"
                        + " sha256sum /root/disk > /root/s' >/dev/null 2>&1 &");
        awaitStall(vm);

        Files.delete(filler);
        Files.delete(filler.resolveSibling(filler.getFileName() + "-too"));
        awaitFree(RESERVE);

        client.run(vm, "while [ ! -s /root/s ]; do sleep 1; done; sync");
        client.run(vm, "echo 3 > /proc/sys/vm/drop_caches; sha256sum -c /root/s");
        assertEquals("0", client.run(vm, "dmesg | grep -c 'I/O error' || true"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private void awaitStall(String vm) {
        var sign = vm + " cannot write to its disk";
        Wait.until(
                soon().left(),
                () -> installation.logTail().contains(sign),
                () -> "no '%s':\n%s".formatted(sign, installation.logTail()));
    }

    private void refused(String path, String body) {
        var answer = client.post(path, body);
        answer.expect(409, "CONFLICT");
        var message = answer.message();
        assertTrue(
                message.matches("no capacity: .*free space.*delete VMs or snapshots.*"),
                path + ": " + message);
    }

    /// Takes what is free on the volume but for the reserve.
    private Path fill() {
        var filler = volume().resolve("filler");
        long room = free() - RESERVE;
        Command.of("fallocate", "-l", room + "M", filler.toString()).runOrFail(soon());
        return filler;
    }

    private void awaitFree(long wanted) {
        Wait.until(
                soon().left(),
                () -> free() >= wanted,
                () -> "only %d MiB get free".formatted(free()));
    }

    /// In MiB.
    private long free() {
        return volume().toFile().getUsableSpace() >> 20;
    }

    /// What there is: rows as the API shows them, files, and control groups with processes.
    private List<Object> state() throws IOException {
        return List.of(
                client.get("/v5/vms").expect(200).requiredInteger("totalCount"),
                client.get("/v5/snapshots").expect(200).requiredInteger("totalCount"),
                files(),
                groups());
    }

    private TreeSet<String> files() throws IOException {
        var names = new TreeSet<String>();
        for (var place : List.of("vms", "snapshots")) {
            try (var paths = Files.walk(volume().resolve(place))) {
                paths.map(Path::toString).forEach(names::add);
            }
        }
        return names;
    }

    private List<String> groups() {
        return ControlGroup.names(DataLock.instance(installation.data())).stream()
                .sorted()
                .toList();
    }

    private Path volume() {
        return installation.data().resolve("volume");
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }
}
