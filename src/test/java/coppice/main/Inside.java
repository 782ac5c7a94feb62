package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.main.Content.Place;
import java.util.Map;
import java.util.TreeMap;

/// What is inside a VM, as its own kernel shows it, and the commands that change it.
final class Inside {
    static final int HASH = 40; // of SHA-1, which a guest computes faster than the others

    private static final String BEGIN =
            """
            set -e; mkdir -p /dev/shm/files /var/files; rm -f /var/part %s; sync
            (word=%s; i=0; while true; do i=$((i+1)); echo $word $i > /dev/shm/count; sleep 0.2; done) >/dev/null 2>&1 &
            """;

    /// The hashes of all files, who the VM says it is, and two looks at its counter between which it must have counted. What the guest has
    /// of its disk in memory is dropped first: the disk itself is to be read.
    private static final String LOOK =
            """
            echo 3 > /proc/sys/vm/drop_caches
            for d in /dev/shm/files /var/files; do cd $d && find . -type f | xargs -r sha1sum && echo - || exit 1; done
            hostname; cat /etc/machine-id
            first=; tries=0
            while [ -z "$first" ]; do first=$(cat /dev/shm/count); done
            while second=$(cat /dev/shm/count); [ -z "$second" -o "$second" = "$first" ]; do
              sleep 0.05; tries=$((tries+1)); [ $tries -lt 400 ] || exit 2
            done
            echo "$first"; echo "$second"
            """;

    private final Client client;

    Inside(Client client) {
        this.client = client;
    }

    /// Has a VM that is new, or has booted, count; files in doubt are removed.
    void begin(String vm, Content content) {
        if (!content.isBegun()) {
            var doubtful = new StringBuilder();
            content.unsynced()
                    .forEach(
                            name ->
                                    doubtful.append(Place.DISK.directory())
                                            .append('/')
                                            .append(name)
                                            .append(' '));
            client.run(vm, BEGIN.formatted(doubtful, "kept"));
            content.begin();
        }
    }

    /// Fails unless the VM has exactly this content and goes on counting.
    ///
    /// @return its machine id
    String verify(String vm, Content content) {
        begin(vm, content);
        var lines = client.run(vm, LOOK).lines().toList();
        assertTrue(
                lines.size() >= 6 && lines.get(lines.size() - 3).length() == 32,
                () -> "no machine id: " + lines);
        var rest = lines.subList(0, lines.size() - 4);
        int end = rest.indexOf("-");
        assertEquals(new TreeMap<>(content.files(Place.MEMORY)), hashes(rest.subList(0, end)));
        assertEquals(
                new TreeMap<>(content.files(Place.DISK)),
                hashes(rest.subList(end + 1, rest.size() - 1)));
        var last = lines.subList(lines.size() - 4, lines.size());
        assertEquals(vm, last.getFirst(), "host name");
        long first = count(last.get(2));
        assertTrue(
                first >= content.count(),
                () -> "it counts %s and had come to %d".formatted(last, content.count()));
        assertEquals(1, Math.min(1, count(last.get(3)) - first), last::toString);
        content.count(first);
        return last.get(1);
    }

    private static long count(String line) {
        assertTrue(line.matches("kept \\d+"), () -> "the counter says " + line);
        return Long.parseLong(line.substring(5));
    }

    private static Map<String, String> hashes(Iterable<String> lines) {
        var found = new TreeMap<String, String>();
        lines.forEach(
                line ->
                        found.put(
                                line.substring(HASH).strip().substring(2),
                                line.substring(0, HASH)));
        return found;
    }

    /// Writes a file of random bytes under a name that ends in its hash: it appears whole or not at all, and the hash is what it prints.
    static String write(Place place, String name, int bytes, boolean isSynced) {
        return """
        touch /dev/shm/writing
        head -c %d /dev/urandom > %s && hash=$(sha1sum < %s) && hash=${hash%%%% *} && mv %s %s/%s-$hash && %s
        status=$?; rm -f /dev/shm/writing; echo $hash; exit $status
        """
                .formatted(
                        bytes,
                        place.part(),
                        place.part(),
                        place.part(),
                        place.directory(),
                        name,
                        isSynced ? "sync" : "true");
    }

    /// Writes random bytes over a part of a file and prints its new hash.
    static String overwrite(Place place, String name, int offset, int bytes) {
        var file = place.directory() + "/" + name;
        return "head -c %d /dev/urandom | dd of=%s bs=512 seek=%d conv=notrunc 2>/dev/null && sha1sum < %s"
                .formatted(bytes, file, offset / 512, file);
    }

    static String hash(Client.Answer answer) {
        var result = answer.expect(200);
        var hash = result.requiredString("stdout").strip();
        assertEquals(0L, result.requiredInteger("statusCode"), result::toString);
        assertTrue(hash.length() >= HASH, result::toString);
        return hash.substring(0, HASH);
    }

    /// Waits for the end of a [#write] that a server which has died began, and finds its file.
    ///
    /// @return the name of the file, or nothing
    String written(String vm, Place place, String name) {
        return client.run(
                vm,
                "sleep 0.3; while [ -e /dev/shm/writing ]; do sleep 0.05; done; rm -f %s; cd %s && find . -name '%s-*' | cut -c3-"
                        .formatted(place.part(), place.directory(), name));
    }
}
