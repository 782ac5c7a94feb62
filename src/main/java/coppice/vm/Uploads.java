package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.RandomText;
import coppice.base.Size;
import coppice.disk.Published;
import coppice.identity.AccountId;
import coppice.node.Node;
import coppice.store.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/// Files that come in chunks and appear in their VM at once, when the last chunk is there. Only [#commit] wakes the VM.
///
/// A chunk is counted in the store when its bytes are on the disk, and never before: what a server that died left behind the counted bytes
/// is written over. An upload ends 24 hours after its last chunk, or with its VM. A row is removed before its spool file: a file without
/// row is removed by [#expire] and when a server starts.
///
/// Failures: `NOT_FOUND` for a VM that the account does not have, or an upload that the VM does not have; `CONFLICT` when the upload is
/// not at that point, another call works on it, or the data volume is full; `UNAVAILABLE` when the disk fails.
public final class Uploads {
    public static final Size MAX_SIZE = new Size(16L << 30);
    public static final Size MAX_CHUNK = new Size(256 << 20);
    private static final int MAX_OPEN = 16;
    private static final Duration LIFE = Duration.ofHours(24);
    private static final Duration STALL = Duration.ofSeconds(60);
    private static final Duration CHUNK = Duration.ofHours(1);

    private final Vms vms;
    private final GuestFileAccess files;
    private final UploadRecords records;
    private final Path directory;
    private final Node node;
    private final InstantSource clock;
    private final Set<String> busy = ConcurrentHashMap.newKeySet();

    /// @param files by which a whole upload comes into its VM
    public Uploads(
            Vms vms, GuestFileAccess files, Store store, Vms.Host host, InstantSource clock) {
        this.vms = vms;
        this.files = files;
        this.records = new UploadRecords(store);
        this.directory = new VmFiles(host.root(), host.reflink()).uploads();
        this.node = host.node();
        this.clock = clock;
    }

    /// Begins an upload. `PAYLOAD_TOO_LARGE` over [#MAX_SIZE], `RATE_LIMITED` when the VM has 16.
    public Upload open(AccountId account, String vm, Upload.Wanted wanted) {
        var id = touched(account, vm);
        if (wanted.size() > MAX_SIZE.bytes()) {
            throw new Failure(
                    Code.PAYLOAD_TOO_LARGE,
                    "size must be at most %d bytes; split the file".formatted(MAX_SIZE.bytes()));
        }
        var upload = new Upload(RandomText.id("up-"), id, wanted, 0);
        if (!records.insert(upload, since(), MAX_OPEN, clock.instant())) {
            vms.get(account, vm);
            throw new Failure(
                    Code.RATE_LIMITED,
                    "%s has %d open uploads; commit or abort one".formatted(id, MAX_OPEN));
        }
        return upload;
    }

    public Upload state(AccountId account, String vm, String upload) {
        return find(touched(account, vm), upload);
    }

    /// Adds a chunk at `offset`, which must be where the last one ended. Nothing of it is counted when anything fails.
    ///
    /// @param length as announced; absent: its end will tell
    public Upload append(
            AccountId account,
            String vm,
            String id,
            long offset,
            OptionalLong length,
            FileSource chunk) {
        var name = touched(account, vm);
        try (var _ = hold(name)) {
            return alone(name, id, upload -> append(upload, offset, length, chunk));
        }
    }

    private Upload append(Upload upload, long offset, OptionalLong length, FileSource chunk) {
        if (offset != upload.received()) {
            throw new Failure(
                    Code.CONFLICT,
                    "the upload goes on at %d, not at %d; send the chunk from there"
                            .formatted(upload.received(), offset));
        }
        long left = upload.wanted().size() - upload.received();
        long most = Math.min(left, MAX_CHUNK.bytes());
        if (length.orElse(1) == 0 || length.orElse(0) > left) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "a chunk must have 1 to %d bytes here, not %d"
                            .formatted(left, length.getAsLong()));
        }
        long added;
        try (var _ = node.takeRoom(new Size(length.orElse(most)))) {
            added = spool(upload).append(upload.received(), left, chunk, STALL, Deadline.in(CHUNK));
        }
        if (added == 0) {
            throw new Failure(Code.BAD_REQUEST, "the chunk is empty; send at least one byte");
        }
        long received = upload.received() + added;
        if (!records.count(upload, received, clock.instant())) {
            Published.delete(spool(upload).file());
            throw absent(upload.id());
        }
        return new Upload(upload.id(), upload.vm(), upload.wanted(), received);
    }

    /// Has the file appear in its VM, which is woken for it. `CHECKSUM_MISMATCH` ends the upload; after any other failure it may be
    /// committed again.
    public void commit(AccountId account, String vm, String id) {
        var name = touched(account, vm);
        alone(
                name,
                id,
                upload -> {
                    commit(FileActor.root(account, name.text()), upload);
                    return true;
                });
    }

    private void commit(FileActor who, Upload upload) {
        var wanted = upload.wanted();
        if (upload.received() != wanted.size()) {
            throw new Failure(
                    Code.CONFLICT,
                    "%d of %d bytes are here; send the rest first"
                            .formatted(upload.received(), wanted.size()));
        }
        var spool = spool(upload);
        var sums = spool.sums(wanted.sha256().map(_ -> GuestFileAccess.sha256()), wanted.size());
        if (!sums.sha256().equals(wanted.sha256())) {
            drop(upload);
            throw new Failure(
                    Code.CHECKSUM_MISMATCH,
                    "what was uploaded has the SHA-256 %s, which is another one; upload it anew"
                            .formatted(sums.sha256().orElseThrow()));
        }
        try (var bytes = spool.open()) {
            var content =
                    new FileContent(
                            wanted.size(),
                            wanted.mode(),
                            Optional.empty(),
                            OptionalLong.of(sums.crc32c()),
                            Spool.source(bytes));
            files.write(who, wanted.path(), content);
        } catch (IOException e) {
            throw Spool.unreadable(e);
        }
        drop(upload);
    }

    /// Ends an upload. A chunk that comes meanwhile finds it gone.
    public void abort(AccountId account, String vm, String id) {
        drop(find(touched(account, vm), id));
    }

    /// Ends those whose time is over, and removes what is left of others.
    void expire() {
        records.expire(since());
        for (var file : spooled()) {
            var id = file.getFileName().toString();
            // A call that works on it removes the file itself.
            if (!busy.contains(id) && !records.ids().contains(id)) {
                Published.delete(file);
            }
        }
    }

    private List<Path> spooled() {
        try (var files = Files.list(directory)) {
            return files.toList();
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the uploads cannot be listed", e);
        }
    }

    /// Works on an upload unless another call does.
    private <T> T alone(VmId vm, String id, Function<Upload, T> work) {
        var known = find(vm, id).id();
        if (!busy.add(known)) {
            throw new Failure(
                    Code.CONFLICT,
                    "another call works on this upload; ask for its state when that is done");
        }
        try {
            return work.apply(find(vm, id)); // anew: it may have been worked on in between
        } finally {
            busy.remove(known);
        }
    }

    private Upload find(VmId vm, String id) {
        return records.find(vm, id, since()).orElseThrow(() -> absent(id));
    }

    private VmId touched(AccountId account, String name) {
        var vm = vms.get(account, name).id();
        vms.activity(vm).ifPresent(Activity::touch);
        return vm;
    }

    private Activity.Hold hold(VmId vm) {
        return vms.activity(vm).map(Activity::hold).orElse(() -> {});
    }

    private void drop(Upload upload) {
        records.delete(upload.id());
        Published.delete(spool(upload).file());
    }

    private Spool spool(Upload upload) {
        return new Spool(directory.resolve(upload.id()));
    }

    private Instant since() {
        return clock.instant().minus(LIFE);
    }

    private static Failure absent(String id) {
        var clean = id.replaceAll("\\p{Cntrl}", "?");
        return new Failure(
                Code.NOT_FOUND,
                "no upload %s; open another one"
                        .formatted(clean.length() <= 80 ? clean : clean.substring(0, 80) + "..."));
    }
}
