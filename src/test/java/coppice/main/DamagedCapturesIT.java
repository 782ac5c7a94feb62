package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A capture that is damaged, or mixed with another one, is refused, and nothing is made of it; whole again, it restores.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DamagedCapturesIT {
    private static final String CREATE = "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}";

    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
    }

    /// Changes one file of a capture, whose directory it is given.
    private interface Harm {
        void doTo(Path file) throws IOException;
    }

    @Test
    void aDamagedSnapshotIsRefusedAndLeavesNoVm() throws IOException {
        client.run(vm, "echo one > /dev/shm/word");
        var directory = take();
        var id = directory.getFileName().toString();
        for (var file : List.of("devices", "meta.json")) {
            for (Harm harm :
                    List.<Harm>of(DamagedCapturesIT::flip, DamagedCapturesIT::cut, Files::delete)) {
                requireRefused(id, directory.resolve(file), harm);
            }
        }
        for (var file : List.of("ram", "disk.raw")) {
            requireRefused(id, directory.resolve(file), DamagedCapturesIT::cut);
            requireRefused(id, directory.resolve(file), Files::delete);
        }
        requireRestores(id, "one");
        client.delete("/v5/snapshots/" + id).expect(204);
    }

    @Test
    void aSnapshotWithAFileOfAnotherOneIsRefused() throws IOException {
        client.run(vm, "echo one > /dev/shm/word");
        var one = take();
        client.run(vm, "echo two > /dev/shm/word");
        var two = take();
        for (var file : List.of("devices", "meta.json")) {
            requireRefused(
                    one.getFileName().toString(),
                    one.resolve(file),
                    path -> replace(two.resolve(file), path));
        }
        for (var word : Map.of(one, "one", two, "two").entrySet()) {
            var id = word.getKey().getFileName().toString();
            requireRestores(id, word.getValue());
            client.delete("/v5/snapshots/" + id).expect(204);
        }
    }

    @Test
    void aPausedVmWhoseCaptureIsDamagedStaysPausedUntilItIsWhole() throws IOException {
        var paused = client.createVm();
        client.run(paused, "echo kept > /dev/shm/word");
        client.post("/v5/vms/%s/pause".formatted(paused), "{}").expect(200);
        var pause =
                Remains.entries(new Remains(installation).vms().resolve(paused)).stream()
                        .filter(name -> name.startsWith("pause-"))
                        .findFirst()
                        .orElseThrow();
        var devices = new Remains(installation).vms().resolve(paused).resolve(pause + "/devices");
        var saved = saved(devices);
        flip(devices);

        for (var verb : List.of("start", "fork")) {
            var refused = client.post("/v5/vms/%s/%s".formatted(paused, verb), "{}");
            refused.expect(503, "UNAVAILABLE");
            assertTrue(refused.message().contains("damaged"), refused.message());
            assertEquals("paused", client.state(paused));
        }
        replace(saved, devices);
        assertEquals("kept", client.run(paused, "cat /dev/shm/word"));
        client.delete("/v5/vms/" + paused).expect(204);
        Files.delete(saved);
    }

    private Path take() {
        var id =
                client.post("/v5/vms/%s/snapshot".formatted(vm), "{}")
                        .expect(200)
                        .requiredString("snapshotId");
        return new Remains(installation).snapshots().resolve(id);
    }

    private void requireRefused(String snapshot, Path file, Harm harm) throws IOException {
        var saved = saved(file);
        harm.doTo(file);
        var before = client.get("/v5/vms").expect(200).requiredInteger("totalCount");
        var refused = client.post("/v5/vms", CREATE.formatted(snapshot));
        Files.deleteIfExists(file);
        replace(saved, file);
        Files.delete(saved);

        refused.expect(503, "UNAVAILABLE");
        assertTrue(refused.message().matches(".*(damaged|missing).*"), refused.message());
        assertEquals(before, client.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        assertEquals("running", client.state(vm));
    }

    private void requireRestores(String snapshot, String word) {
        var copy = client.createVm(CREATE.formatted(snapshot));
        assertEquals(word, client.run(copy, "cat /dev/shm/word"));
        client.delete("/v5/vms/" + copy).expect(204);
    }

    /// Aside, where no capture is looked for.
    private Path saved(Path file) throws IOException {
        var saved = installation.data().resolve("volume/saved");
        replace(file, saved);
        return saved;
    }

    /// As a reflink: memory and disk are large.
    private static void replace(Path from, Path to) {
        coppice.process.Command.of("cp", "--reflink=always", "-f", from.toString(), to.toString())
                .runOrFail(coppice.base.Deadline.in(java.time.Duration.ofSeconds(30)));
    }

    private static void flip(Path file) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            var one = java.nio.ByteBuffer.allocate(1);
            long middle = channel.size() / 2;
            channel.read(one, middle);
            one.put(0, (byte) (one.get(0) ^ 1)).rewind();
            channel.write(one, middle);
        }
    }

    private static void cut(Path file) throws IOException {
        var copy = file.resolveSibling("copy"); // VMs may run on the file itself
        replace(file, copy);
        try (var channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        Files.move(copy, file, StandardCopyOption.REPLACE_EXISTING);
    }
}
