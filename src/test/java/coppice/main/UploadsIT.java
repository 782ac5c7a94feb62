package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Files that come into a real VM in chunks.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UploadsIT {
    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
    }

    private String uploads() {
        return "/v5/vms/%s/fs/uploads".formatted(vm);
    }

    private Client.Answer tryOpen(String path, long size, String more) {
        return client.post(
                uploads(), "{\"path\":\"%s\",\"size\":%d%s}".formatted(path, size, more));
    }

    private String open(String path, long size) {
        var session = tryOpen(path, size, "").expect(200);
        assertEquals(0, session.requiredInteger("receivedBytes"));
        assertEquals(size, session.requiredInteger("size"));
        assertEquals(path, session.requiredString("path"));
        return session.requiredString("uploadId");
    }

    private Client.Answer chunk(String id, long offset, byte[] bytes) {
        return client.send("PUT", "%s/%s?offset=%d".formatted(uploads(), id, offset), bytes);
    }

    private long received(String id) {
        return client.get(uploads() + "/" + id).expect(200).requiredInteger("receivedBytes");
    }

    private Client.Answer commit(String id) {
        return client.post(uploads() + "/" + id + "/commit", "");
    }

    private Path spool(String id) {
        return installation.data().resolve("volume/uploads").resolve(id);
    }

    @Test
    void aFileArrivesWholeThroughCutsKillsAndPauses() throws IOException {
        var random = Seed.random(getClass());
        var bytes = new byte[(4 << 20) + random.nextInt(1 << 20)];
        random.nextBytes(bytes);
        var hash = FilesIT.sha256(bytes);
        var more = ",\"sha256\":\"%s\",\"mode\":420".formatted(hash);
        var id =
                tryOpen("/srv/up/model.bin", bytes.length, more)
                        .expect(200)
                        .requiredString("uploadId");
        int offset = 0;
        for (int step = 0; offset < bytes.length; step++) {
            int length = Math.min(1 + random.nextInt(1 << 20), bytes.length - offset);
            var next = Arrays.copyOfRange(bytes, offset, offset + length);
            switch (step) {
                case 1, 4 -> {
                    var half = Arrays.copyOf(next, length / 2);
                    var url = "%s/%s?offset=%d".formatted(uploads(), id, offset);
                    client.cutOff("PUT", url, length + 1L, half);
                }
                case 2 -> killInTheMiddleOfAChunk(id);
                case 3 -> client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
                default -> {}
            }
            assertEquals(offset, received(id), "after step " + step);
            offset += length;
            var session = chunk(id, offset - length, next).expect(200);
            assertEquals(offset, session.requiredInteger("receivedBytes"));
        }
        assertEquals("paused", client.state(vm), "only a commit wakes");
        commit(id).expect(204);
        assertEquals("running", client.state(vm));
        assertTrue(client.run(vm, "sha256sum < /srv/up/model.bin").startsWith(hash));
        assertEquals("644 0", client.run(vm, "stat -c '%a %u' /srv/up/model.bin"));
        assertFalse(Files.exists(spool(id)));
        commit(id).expect(404, "NOT_FOUND");
    }

    private void killInTheMiddleOfAChunk(String id) throws IOException {
        installation.killServer();
        Files.write(spool(id), new byte[777], StandardOpenOption.APPEND);
        installation.startServer();
    }

    @Test
    void eachChunkMustFitAndAnUploadMustBeWhole() throws IOException {
        var id = open("/srv/rows", 10);
        chunk(id, 1, new byte[1]).expect(409, "CONFLICT");
        chunk(id, 0, new byte[0]).expect(400, "BAD_REQUEST");
        chunk(id, 0, new byte[11]).expect(400, "BAD_REQUEST");
        client.send("PUT", uploads() + "/" + id, new byte[1]).expect(400, "BAD_REQUEST");
        chunk(id, 0, "01234".getBytes(UTF_8)).expect(200);
        chunk(id, 0, "01234".getBytes(UTF_8)).expect(409, "CONFLICT");
        chunk(id, 5, new byte[6]).expect(400, "BAD_REQUEST");
        commit(id).expect(409, "CONFLICT");
        var url = "%s/%s?offset=5".formatted(uploads(), id);
        var large = client.cutOff("PUT", url, (256L << 20) + 1, new byte[0]);
        assertTrue(large.contains(" 413 ") && large.contains("PAYLOAD_TOO_LARGE"), large);
        assertEquals(5, received(id));
        chunk(id, 5, "56789".getBytes(UTF_8)).expect(200);
        commit(id).expect(204);
        assertEquals("0123456789", client.run(vm, "cat /srv/rows"));
    }

    @Test
    void aFileOfNothingNeedsNoChunk() {
        commit(open("/srv/nothing", 0)).expect(204);
        assertEquals("0", client.run(vm, "stat -c %s /srv/nothing"));
    }

    @Test
    void anUploadWithAnotherHashIsDropped() {
        var more = ",\"sha256\":\"%s\"".formatted(FilesIT.sha256(new byte[2]));
        var id = tryOpen("/srv/other", 1, more).expect(200).requiredString("uploadId");
        chunk(id, 0, new byte[1]).expect(200);
        commit(id).expect(400, "CHECKSUM_MISMATCH");
        commit(id).expect(404, "NOT_FOUND");
        assertFalse(Files.exists(spool(id)));
        client.run(vm, "test ! -e /srv/other");
    }

    @Test
    void whatIsNoUploadIsRefused() {
        tryOpen("srv", 1, "").expect(400, "BAD_REQUEST");
        tryOpen("/srv/../x", 1, "").expect(400, "BAD_REQUEST");
        tryOpen("/srv/x", -1, "").expect(400, "BAD_REQUEST");
        tryOpen("/srv/x", 1, ",\"mode\":4096").expect(400, "BAD_REQUEST");
        tryOpen("/srv/x", 1, ",\"sha256\":\"12\"").expect(400, "BAD_REQUEST");
        tryOpen("/srv/x", (16L << 30) + 1, "").expect(413, "PAYLOAD_TOO_LARGE");
        var unknown = "up-" + "0".repeat(20);
        chunk(unknown, 0, new byte[1]).expect(404, "NOT_FOUND");
        commit(unknown).expect(404, "NOT_FOUND");
        client.get(uploads() + "/" + unknown).expect(404, "NOT_FOUND");
        client.delete(uploads() + "/..%2F..%2Fvms").expect(404, "NOT_FOUND");
    }

    @Test
    void aFullDiskIsToldAndTheUploadCanBeCommittedWhenThereIsRoom() {
        client.run(vm, "mkdir -p /srv/full && mount -t tmpfs -o size=1m tmpfs /srv/full");
        var id = open("/srv/full/file", 2 << 20);
        chunk(id, 0, new byte[2 << 20]).expect(200);
        commit(id).expect(507, "DISK_FULL");
        client.run(vm, "test -z \"$(ls -A /srv/full)\" && mount -o remount,size=8m /srv/full");
        commit(id).expect(204);
        assertEquals(
                Integer.toString(2 << 20),
                client.run(vm, "stat -c %s /srv/full/file && umount /srv/full"));
    }

    @Test
    void aVmHasSixteenUploadsWhichGoWithIt() {
        var other = client.createVm();
        var before = vm;
        vm = other;
        try {
            var ids = new ArrayList<String>();
            for (int i = 0; i < 16; i++) {
                ids.add(open("/srv/" + i, 1));
                chunk(ids.getLast(), 0, new byte[1]).expect(200);
            }
            tryOpen("/srv/more", 1, "").expect(429, "RATE_LIMITED");
            client.delete(uploads() + "/" + ids.getFirst()).expect(204);
            client.delete(uploads() + "/" + ids.getFirst()).expect(404, "NOT_FOUND");
            assertFalse(Files.exists(spool(ids.getFirst())));
            ids.set(0, open("/srv/more", 1));
            client.delete("/v5/vms/" + other).expect(204);
            client.get(uploads() + "/" + ids.getLast()).expect(404, "NOT_FOUND");
        } finally {
            vm = before;
        }
    }
}
