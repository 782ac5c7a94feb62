package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Undo;
import coppice.guest.DirectoryEntry;
import coppice.guest.FileDescription;
import coppice.guest.FileRange;
import coppice.guest.FileReading;
import coppice.guest.FileWriting;
import coppice.guest.GuestFiles;
import coppice.guest.NewFile;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Function;

/// The files of VMs. Every call wakes its VM and holds it awake until it is done; a watch only until it has begun.
///
/// Fails as [Vms#awake] and [GuestFiles] do. A transfer has a limit on each wait for a byte, and on the whole of it.
public final class GuestFileAccess {
    private static final Duration CALL = Duration.ofSeconds(60);
    private static final Duration STALL = Duration.ofSeconds(60);

    /// Bytes that the slowest disk of a guest gives in a second.
    private static final long SLOWEST = 16 << 20;

    private static final Duration TRANSFER = Duration.ofHours(4);
    private static final int BUFFER = 64 << 10;

    /// How often the end of a file that changes is looked for.
    private static final int LOOKS = 5;

    private final Vms vms;
    private final Duration wake;

    /// @param wake the longest that a start may take
    public GuestFileAccess(Vms vms, Duration wake) {
        this.vms = vms;
        this.wake = wake;
    }

    /// With `follow`, of what a link points to.
    public FileDescription stat(FileActor who, GuestPath path, boolean follow) {
        return use(who, files -> files.stat(path.text(), who.user(), follow, Deadline.in(CALL)));
    }

    /// Whether there is something at the path, or where the link there points to.
    public boolean exists(FileActor who, GuestPath path) {
        try {
            stat(who, path, true);
            return true;
        } catch (Failure e) {
            if (e.code() == Code.FILE_NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /// What is in a directory, in no order.
    public List<DirectoryEntry> list(FileActor who, GuestPath path, boolean follow) {
        return use(who, files -> files.list(path.text(), who.user(), follow, Deadline.in(CALL)));
    }

    /// Makes a directory and those above it.
    public void mkdir(FileActor who, GuestPath path) {
        use(
                who,
                files -> {
                    files.mkdir(path.text(), who.user(), Deadline.in(CALL));
                    return true;
                });
    }

    /// Removes a file, a link, or a directory with all that is in it.
    public void remove(FileActor who, GuestPath path) {
        if (path.isRoot()) {
            throw new Failure(
                    Code.BAD_REQUEST, "path must not be the root directory; delete the VM instead");
        }
        use(
                who,
                files -> {
                    files.remove(path.text(), who.user(), Deadline.in(CALL));
                    return true;
                });
    }

    /// Begins to read a regular file; links are followed. Fails with `RANGE_NOT_SATISFIABLE` when it has no such part.
    public FileDownload read(FileActor who, GuestPath path, FilePart part) {
        try (var undo = new Undo()) {
            var guest = undo.add(vms.hold(who.account(), who.vm(), Deadline.in(wake)));
            var files = guest.guest().files();
            var reading = undo.add(begin(files, who, path, part));
            long size = reading.description().size();
            long first =
                    switch (part) {
                        case FilePart.Whole _ -> 0;
                        case FilePart.Between(var from, _) -> from;
                        case FilePart.Last(var count) -> Math.max(0, size - count);
                    };
            if (!(part instanceof FilePart.Whole) && reading.length() == 0) {
                throw new Failure(
                        Code.RANGE_NOT_SATISFIABLE,
                        "%s has %d bytes and none in this range; ask for others"
                                .formatted(path, size),
                        Map.of("size", size));
            }
            undo.keep();
            return new FileDownload(guest, reading, first, STALL, Deadline.in(TRANSFER));
        }
    }

    /// Replaces a file, or makes it with the directories above it, in one step. Nothing is written when anything fails;
    /// `CHECKSUM_MISMATCH` when the bytes have another SHA-256.
    public void write(FileActor who, GuestPath path, FileContent content) {
        use(
                who,
                files -> {
                    var file = new NewFile(content.size(), content.mode(), content.checksum());
                    try (var writing = files.write(path.text(), who.user(), file)) {
                        var deadline = Deadline.in(TRANSFER);
                        copy(content, writing, deadline);
                        writing.commit(deadline.atMost(settling(content.size())));
                    }
                    return true;
                });
    }

    /// A whole file, at once. Fails with `PAYLOAD_TOO_LARGE` when it has more bytes.
    public byte[] bytes(FileActor who, GuestPath path, Size most) {
        try (var download = read(who, path, new FilePart.Whole())) {
            if (download.length() > most.bytes()) {
                throw new Failure(
                        Code.PAYLOAD_TOO_LARGE,
                        "%s has %d bytes, which is over the limit of %d"
                                .formatted(path, download.length(), most.bytes()));
            }
            var all = ByteBuffer.allocate((int) download.length());
            download.writeTo(all::put);
            return all.array();
        }
    }

    /// Begins to watch the tree under a directory, or under one that a link there points to; returns when all that happens from now on
    /// will be told.
    public WatchedTree watch(FileActor who, GuestPath path) {
        var place = new WatchedTree.Place(path);
        return vms.awake(
                who.account(),
                who.vm(),
                Deadline.in(wake),
                guest -> {
                    var vm = vms.get(who.account(), who.vm());
                    // Known before the watch is there: one that began in another run would not end
                    // with it.
                    var run = run(vm);
                    var watch = guest.files().watch(place.inGuest(), who.user(), Deadline.in(CALL));
                    return new WatchedTree(vms, vm, run, place, watch);
                });
    }

    private static UUID run(Vm vm) {
        if (vm.state() instanceof VmState.Running(_, var run, _)) {
            return run;
        }
        throw new Failure(
                Code.UNAVAILABLE,
                "%s is %s by now; try again".formatted(vm.id(), vm.state().word()));
    }

    /// How long a guest may take that has got a whole file, until that is on its disk and has been read back from there.
    private static Duration settling(long size) {
        return CALL.plus(Duration.ofSeconds(size / SLOWEST));
    }

    private <T> T use(FileActor who, Function<GuestFiles, T> use) {
        return vms.awake(
                who.account(), who.vm(), Deadline.in(wake), guest -> use.apply(guest.files()));
    }

    private static FileReading begin(
            GuestFiles files, FileActor who, GuestPath path, FilePart part) {
        var deadline = Deadline.in(CALL);
        return switch (part) {
            case FilePart.Whole _ -> files.read(path.text(), who.user(), FileRange.WHOLE, deadline);
            case FilePart.Between(var first, var last) ->
                    files.read(
                            path.text(),
                            who.user(),
                            new FileRange(first, length(first, last)),
                            deadline);
            case FilePart.Last(var count) -> end(files, who, path, count, deadline);
        };
    }

    private static OptionalLong length(long first, long last) {
        return last - first == Long.MAX_VALUE
                ? OptionalLong.empty()
                : OptionalLong.of(last - first + 1);
    }

    /// The guest counts from the beginning only, so the size is asked for first, and again when it was another one by then.
    private static FileReading end(
            GuestFiles files, FileActor who, GuestPath path, long count, Deadline deadline) {
        for (int look = 0; look < LOOKS; look++) {
            long size = files.stat(path.text(), who.user(), true, deadline).size();
            var range = new FileRange(Math.max(0, size - count), OptionalLong.of(count));
            var reading = files.read(path.text(), who.user(), range, deadline);
            if (reading.description().size() == size) {
                return reading;
            }
            reading.close();
        }
        throw new Failure(
                Code.CONFLICT,
                "the size of %s keeps changing; ask for a range from its beginning"
                        .formatted(path));
    }

    private static void copy(FileContent content, FileWriting writing, Deadline deadline) {
        var digest = content.sha256().map(_ -> sha256()); // it costs more than all else here
        var buffer = new byte[BUFFER];
        for (long done = 0; done < content.size(); ) {
            int most = (int) Math.min(buffer.length, content.size() - done);
            int count = content.source().read(buffer, 0, most, deadline.atMost(STALL));
            if (count == 0) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "the body has %d of %d bytes; send it again"
                                .formatted(done, content.size()));
            }
            digest.ifPresent(of -> of.update(buffer, 0, count));
            writing.write(buffer, 0, count, deadline.atMost(STALL));
            done += count;
        }
        digest.ifPresent(of -> requireHash(content, of.digest()));
    }

    private static void requireHash(FileContent content, byte[] hash) {
        var found = HexFormat.of().formatHex(hash);
        if (content.sha256().filter(wanted -> !wanted.equals(found)).isPresent()) {
            throw new Failure(
                    Code.CHECKSUM_MISMATCH,
                    "the bytes have the SHA-256 %s, which is another one; nothing was written, send them again"
                            .formatted(found));
        }
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
