package coppice.vm;

import coppice.base.Deadline;
import coppice.base.Slug;
import coppice.disk.DiskUse;
import coppice.disk.Extents;
import coppice.disk.Reflink;
import coppice.identity.Account;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.process.PlatformThread;
import coppice.process.ProcessId;
import coppice.qemu.MemoryUse;
import coppice.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Reads what VMs and snapshots really take of this host's memory and data volume. It looks at the store, at /proc and at the files, never
/// at a VM's loop, so it works beside a server and without one, and no VM waits for it.
///
/// Readings are made one after the other, on a thread of its own. Thread-safe.
public final class Usage implements AutoCloseable {
    private final VmRecords vms;
    private final SnapshotRecords snapshots;
    private final Accounts accounts;
    private final VmFiles files;
    private final PlatformThread thread = new PlatformThread("usage");

    /// @param root as in [Vms.Host]
    public Usage(Store store, Accounts accounts, Path root, Reflink reflink) {
        this.vms = new VmRecords(store);
        this.snapshots = new SnapshotRecords(store);
        this.accounts = accounts;
        this.files = new VmFiles(root, reflink);
    }

    /// Reads all, or what one account has. What is not read by the deadline is absent in the reading.
    public UsageReading read(Optional<AccountId> only, Deadline deadline) {
        var owners = new HashMap<AccountId, Slug>();
        var wantedVms =
                vms.all().stream()
                        .filter(vm -> only.map(vm.account()::equals).orElse(true))
                        .sorted(Comparator.comparing(Vm::createdAt))
                        .toList();
        var wantedSnapshots =
                snapshots.usable().stream()
                        .filter(s -> only.map(s.account()::equals).orElse(true))
                        .sorted(Comparator.comparing(Snapshot::createdAt))
                        .toList();
        wantedVms.forEach(vm -> owners.computeIfAbsent(vm.account(), this::slug));
        wantedSnapshots.forEach(s -> owners.computeIfAbsent(s.account(), this::slug));
        return thread.call(() -> read(wantedVms, wantedSnapshots, owners, deadline));
    }

    private Slug slug(AccountId id) {
        return accounts.find(id).map(Account::slug).orElseThrow();
    }

    /// Memory first: it is read in no time, while a disk may have millions of extents.
    private UsageReading read(
            List<Vm> vms,
            List<Snapshot> snapshots,
            Map<AccountId, Slug> owners,
            Deadline deadline) {
        var memory = vms.stream().map(vm -> memory(vm, deadline)).toList();
        var disks = vms.stream().map(vm -> disk(files.of(vm.id()).directory(), deadline)).toList();
        var ofVms = new java.util.ArrayList<UsageReading.OfVm>();
        for (int i = 0; i < vms.size(); i++) {
            var vm = vms.get(i);
            ofVms.add(
                    new UsageReading.OfVm(
                            vm, owners.get(vm.account()), memory.get(i), disks.get(i)));
        }
        var ofSnapshots =
                snapshots.stream()
                        .map(
                                s ->
                                        new UsageReading.OfSnapshot(
                                                s,
                                                owners.get(s.account()),
                                                disk(files.snapshot(s.id()), deadline)))
                        .toList();
        return new UsageReading(ofVms, ofSnapshots);
    }

    private Optional<MemoryUse> memory(Vm vm, Deadline deadline) {
        return deadline.isPast()
                ? Optional.empty()
                : process(vm.state()).flatMap(p -> MemoryUse.of(p, files.of(vm.id())));
    }

    private static Optional<ProcessId> process(VmState state) {
        return switch (state) {
            case VmState.Running running -> Optional.of(running.process());
            case VmState.Pausing(_, var running, _) -> Optional.of(running.process());
            case VmState.Creating _, VmState.Starting _, VmState.Resting _ -> Optional.empty();
        };
    }

    private static Optional<DiskUse> disk(Path directory, Deadline deadline) {
        var sum = DiskUse.NONE;
        for (var file : regularFiles(directory)) {
            var use = Extents.of(file, deadline);
            if (use.isEmpty()) {
                return use;
            }
            sum = sum.plus(use.get());
        }
        return deadline.isPast() ? Optional.empty() : Optional.of(sum);
    }

    /// Those that are there at this moment: a VM that is being deleted loses them meanwhile.
    private static List<Path> regularFiles(Path directory) {
        try (var paths = Files.walk(directory)) {
            return paths.filter(
                            path ->
                                    Files.isRegularFile(
                                            path, java.nio.file.LinkOption.NOFOLLOW_LINKS))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
