package coppice.main;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The files that a VM or a snapshot must have, each with its hash, and how far its counter must have come.
final class Content {

    /// Where files are. `directory` holds them and nothing else; `part` is one that is being written.
    enum Place {
        MEMORY("/dev/shm/files", "/dev/shm/part"),
        DISK("/var/files", "/var/part");

        private final String directory;
        private final String part;

        Place(String directory, String part) {
            this.directory = directory;
            this.part = part;
        }

        String directory() {
            return directory;
        }

        String part() {
            return part;
        }
    }

    private final Map<Place, Map<String, String>> files =
            Map.of(Place.MEMORY, new TreeMap<>(), Place.DISK, new TreeMap<>());
    private final Set<String> unsynced = new TreeSet<>();
    private boolean isBegun;
    private long count;

    Content copy() {
        var copy = new Content();
        files.forEach((place, found) -> copy.files.get(place).putAll(found));
        copy.unsynced.addAll(unsynced);
        copy.isBegun = isBegun;
        copy.count = count;
        return copy;
    }

    Map<String, String> files(Place place) {
        return Map.copyOf(files.get(place));
    }

    void put(Place place, String name, String hash) {
        files.get(place).put(name, hash);
        noteUnsynced(place, name);
    }

    void remove(Place place, String name) {
        files.get(place).remove(name);
        noteUnsynced(place, name);
    }

    private void noteUnsynced(Place place, String name) {
        if (place == Place.DISK) {
            unsynced.add(name);
        }
    }

    /// Files on the disk of which nobody knows how much would last through a power cut.
    Set<String> unsynced() {
        return Set.copyOf(unsynced);
    }

    void sync() {
        unsynced.clear();
    }

    /// The machine has ended in good order: what it had changed is on its disk. What an earlier power cut left in doubt stays so until
    /// it is removed.
    void powerOff() {
        if (isBegun) {
            unsynced.clear();
        }
        cut();
    }

    /// The machine has lost its power: memory is gone, and what was not synced is in doubt.
    void cut() {
        files.get(Place.MEMORY).clear();
        files.get(Place.DISK).keySet().removeAll(unsynced);
        isBegun = false;
        count = 0;
    }

    /// Whether the directories are there and the counter counts.
    boolean isBegun() {
        return isBegun;
    }

    void begin() {
        isBegun = true;
        unsynced.clear();
    }

    long count() {
        return count;
    }

    void count(long seen) {
        count = seen;
    }

    @Override
    public String toString() {
        return "memory %s, disk %s, of these not synced %s, counted to %d"
                .formatted(
                        files.get(Place.MEMORY).keySet(),
                        files.get(Place.DISK).keySet(),
                        unsynced,
                        count);
    }
}
