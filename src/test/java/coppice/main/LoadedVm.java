package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.main.Content.Place;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// A VM with known files in its memory and on its disk and a counter that counts, which must all go on whatever becomes of captures of it,
/// and an old snapshot of it.
final class LoadedVm {
    private static final int SOME = 3 << 20;

    private final Installation installation;
    private final Client client;
    private final Inside inside;
    private final Remains remains;
    private final String image;
    private final String id;
    private final Content content = new Content();
    private final Content then;
    private final String old;

    /// @param mib of memory that differ from the image's, at least
    LoadedVm(Installation installation, Client client, int mib) {
        this.installation = installation;
        this.client = client;
        this.inside = new Inside(client);
        this.remains = new Remains(installation);
        this.image = client.get("/v5/snapshots/svc%2Fbusybox").expect(200).requiredString("id");
        this.id = client.createVm();
        client.post("/v5/vms/%s/resize".formatted(id), "{\"memory\":320}").expect(200);
        client.run(id, "mount -o remount,size=280m /dev/shm");
        inside.begin(id, content);
        write(Place.MEMORY, "then", SOME, content);
        write(Place.DISK, "then", SOME, content);
        old = take().expect(200).requiredString("snapshotId");
        then = content.copy();
        write(Place.MEMORY, "now", SOME, content);
        fill(mib);
    }

    private void write(Place place, String name, int bytes, Content into) {
        var hash =
                client.run(id, Inside.write(place, name, bytes, place == Place.DISK))
                        .substring(0, Inside.HASH);
        into.put(place, name + "-" + hash, hash);
    }

    /// Fast: the same random bytes again and again, each time at another offset within a page.
    private void fill(int mib) {
        var hash =
                client.run(
                        id,
                        "cd /dev/shm; head -c 4m /dev/urandom > part; for i in $(seq %d); do echo $i; cat part; done > files/much;"
                                        .formatted(mib / 4)
                                + " rm part; sha1sum files/much");
        content.put(Place.MEMORY, "much", hash.substring(0, Inside.HASH));
    }

    String id() {
        return id;
    }

    String old() {
        return old;
    }

    Remains remains() {
        return remains;
    }

    Client.Answer take() {
        return client.post("/v5/vms/%s/snapshot".formatted(id), "{}");
    }

    Client.Answer fork() {
        return client.post("/v5/vms/%s/fork".formatted(id), "{\"count\":2}");
    }

    /// Fails unless the answer says that there is no capture, and why.
    static void requireRefused(Client.Answer answer) {
        assertTrue(
                List.of(503, 409).contains(answer.status()),
                () -> answer.status() + " " + answer.message());
        assertEquals(
                answer.status() == 503 ? "UNAVAILABLE" : "CONFLICT",
                answer.body().requiredString("code"));
        assertTrue(answer.message().length() > 20, answer.message());
        System.out.println("refused: " + answer.message());
    }

    /// Fails unless the VM goes on with all that it had, and nothing is left of a capture or of copies.
    void requireWhole() {
        assertEquals("running", client.state(id), client::log);
        assertEquals(Set.of(id), ids("vms"));
        inside.verify(id, content);
        remains.require(ids("vms"), ids("snapshots"));
    }

    /// Fails unless the snapshot that was there before restores, and a new one can be taken and restores.
    void requireCaptures() {
        requireRestores(old, then);
        var next = take().expect(200).requiredString("snapshotId");
        requireRestores(next, content);
        client.delete("/v5/snapshots/" + next).expect(204);
        requireWhole();
    }

    void requireRestores(String snapshot, Content expected) {
        var copy =
                client.createVm(
                        "{\"snapshotId\":\"%s\",\"firewall\":{\"rules\":[]}}".formatted(snapshot));
        inside.verify(copy, expected.copy());
        client.delete("/v5/vms/" + copy).expect(204);
    }

    /// Restores and deletes whatever captures and copies there are besides the old snapshot: none is half done.
    void clearOthers() {
        for (var vm : ids("vms")) {
            if (!vm.equals(id)) {
                inside.verify(vm, content.copy());
                client.delete("/v5/vms/" + vm).expect(204);
            }
        }
        for (var snapshot : ids("snapshots")) {
            if (!snapshot.equals(old) && !snapshot.equals(image)) {
                requireRestores(snapshot, content);
                client.delete("/v5/snapshots/" + snapshot).expect(204);
            }
        }
    }

    private TreeSet<String> ids(String what) {
        var ids = new TreeSet<String>();
        client.get("/v5/%s?limit=100".formatted(what))
                .expect(200)
                .requiredObjects(what)
                .forEach(one -> ids.add(one.requiredString("id")));
        if (what.equals("snapshots")) {
            ids.add(image);
        }
        return ids;
    }

    /// For the message of a test that fails.
    @Override
    public String toString() {
        return "%s: %s\n%s".formatted(id, content, installation.logTail());
    }
}
