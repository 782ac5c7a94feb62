package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.guest.DirectoryEntry;
import coppice.guest.FileDescription;
import coppice.guest.FileEvent;
import coppice.guest.FileRange;
import coppice.guest.FileWatch;
import coppice.guest.GuestFiles;
import coppice.guest.NewFile;
import coppice.vm.GuestPath;
import coppice.vm.TreeNews;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// The files of a VM that is always awake. A watch of it can be ended, broken off and flooded.
final class FakeTree implements GuestTree {
    static final String HOME = "/home/default";

    private final GuestFiles files;
    private final Optional<String> user;
    private final Watches watches;

    /// Those of all users.
    static final class Watches {
        /// The paths that are being watched.
        final Set<String> open = ConcurrentHashMap.newKeySet();

        /// How many events were asked for in a flood.
        final AtomicLong taken = new AtomicLong();

        volatile boolean isFlooded;
        volatile boolean hasEnded;
        volatile Optional<Failure> failure = Optional.empty();
    }

    FakeTree(GuestFiles files) {
        this(files, Optional.empty(), new Watches());
    }

    private FakeTree(GuestFiles files, Optional<String> user, Watches watches) {
        this.files = files;
        this.user = user;
        this.watches = watches;
    }

    FakeTree as(Optional<String> other) {
        return new FakeTree(files, other, watches);
    }

    Watches watches() {
        return watches;
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }

    @Override
    public FileDescription stat(GuestPath path) {
        return files.stat(path.text(), user, true, soon());
    }

    @Override
    public byte[] read(GuestPath path, Size most) {
        try (var reading = files.read(path.text(), user, FileRange.WHOLE, soon())) {
            if (reading.length() > most.bytes()) {
                throw new Failure(Code.PAYLOAD_TOO_LARGE, "it has become too large");
            }
            var all = new byte[(int) reading.length()];
            for (int done = 0; done < all.length; ) {
                done += reading.read(all, done, all.length - done, soon());
            }
            return all;
        }
    }

    @Override
    public List<DirectoryEntry> list(GuestPath path) {
        return files.list(path.text(), user, true, soon());
    }

    @Override
    public void write(GuestPath path, OptionalInt mode, byte[] content) {
        var file = new NewFile(content.length, mode, OptionalLong.empty());
        try (var writing = files.write(path.text(), user, file)) {
            writing.write(content, 0, content.length, soon());
            writing.commit(soon());
        }
    }

    void remove(String path) {
        files.remove(path, user, soon());
    }

    @Override
    public GuestPath home() {
        return new GuestPath(HOME);
    }

    @Override
    public Watch watch(GuestPath path) {
        var watch = files.watch(path.text(), user, soon());
        watches.open.add(path.text());
        return new Told(watch, path.text());
    }

    private final class Told implements Watch {
        private final FileWatch watch;
        private final String path;

        Told(FileWatch watch, String path) {
            this.watch = watch;
            this.path = path;
        }

        @Override
        public TreeNews next(Duration wait) {
            watches.failure.ifPresent(
                    why -> {
                        throw why;
                    });
            if (watches.hasEnded) {
                return new TreeNews.Ended();
            }
            if (watches.isFlooded) {
                watches.taken.incrementAndGet();
                return new TreeNews.Happened(
                        new FileEvent(FileEvent.Kind.MODIFY, "/" + "x".repeat(4000)));
            }
            try { // in small steps, so that what a test changes is seen
                return watch.next(Duration.ofMillis(Math.min(20, wait.toMillis())))
                        .<TreeNews>map(TreeNews.Happened::new)
                        .orElseGet(TreeNews.Nothing::new);
            } catch (Failure e) {
                if (watches.open.contains(path)) {
                    throw e;
                }
                return new TreeNews.Ended();
            }
        }

        @Override
        public void close() {
            watches.open.remove(path);
            watch.close();
        }
    }
}
