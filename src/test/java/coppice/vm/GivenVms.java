package coppice.vm;

import coppice.Seed;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.node.Capacity;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// Everything that the routes of an API stand on, with VMs that are stopped and snapshots that were never a machine. Nothing here can be
/// started.
public final class GivenVms implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Size SMALL = Size.ofMib(1);

    private final Random random = Seed.random(GivenVms.class);
    private final AnyVm any = new AnyVm(random);
    private final GivenCapture captures = new GivenCapture(random);
    private final Reflink reflink = new Reflink();
    private final Store store;
    private final Accounts accounts;
    private final AccountId ada;
    private final AccountId bob;
    private final Vm stopped;
    private final Vms.Host host;
    private final Vms vms;
    private volatile Size free = SMALL;

    public GivenVms(Path directory) {
        store = Store.open(directory.resolve("test.db"));
        accounts = new Accounts(store, Clock.systemUTC());
        ada = accounts.create(new Slug("ada"), "Ada").id();
        bob = accounts.create(new Slug("bob"), "Bob").id();
        stopped = stopped(ada, "stopped");
        new VmRecords(store).insert(stopped, false);
        host =
                new Vms.Host(
                        directory,
                        reflink,
                        new QemuLauncher(new Hypervisor("tcg", "10.0.2", "max"), "given-vms"),
                        new Node(new Capacity(1, SMALL, SMALL, 1, 70_000), () -> free));
        vms =
                Vms.open(
                        host,
                        store,
                        accounts,
                        new Snapshots.Catalogue(accounts.platform(), new Slug("debian"), Map.of()),
                        new VmLimits(
                                PATIENCE,
                                PATIENCE,
                                PATIENCE,
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                PoolLimits.NONE),
                        InstantSource.system());
    }

    private Vm stopped(AccountId account, String slug) {
        var state = new VmState.Stopped(Instant.EPOCH, Optional.empty());
        var vm = any.of(account, state);
        return vm.with(vm.settings().withSlug(Optional.of(new Slug(slug))), vm.updatedAt());
    }

    public Vms vms() {
        return vms;
    }

    Uploads uploads(InstantSource clock) {
        return new Uploads(vms, new GuestFileAccess(vms, PATIENCE), store, host, clock);
    }

    /// Says that so much of the data volume is free; a megabyte of that is the reserve.
    void free(Size size) {
        free = size;
    }

    public AccountId ada() {
        return ada;
    }

    public AccountId bob() {
        return bob;
    }

    public AccountId platform() {
        return accounts.platform().id();
    }

    /// A VM of Ada's.
    public Vm stopped() {
        return stopped;
    }

    /// A private snapshot of a VM that is gone.
    public Snapshot snapshot(AccountId account, Snapshot.Settings settings) {
        return vms.snapshots()
                .take(
                        account,
                        new NewSnapshot(settings, new Persistence.Sticky(7)),
                        VmId.random(),
                        captures::write);
    }

    public Snapshot snapshot(AccountId account, String slug) {
        return snapshot(account, Snapshot.Settings.NONE.withSlug(Optional.of(new Slug(slug))));
    }

    /// A public snapshot of the platform.
    public Snapshot base(String slug) {
        return vms.snapshots().publish(SnapshotId.random(), new Slug(slug), captures::write);
    }

    /// One that was never whole.
    public Snapshot failed(AccountId account) {
        var failed =
                new Snapshot(
                        SnapshotId.random(),
                        account,
                        Snapshot.Settings.NONE,
                        false,
                        Optional.empty(),
                        Optional.empty(),
                        new Persistence.Persistent(),
                        new Snapshot.Failed(vms.now(), "the disk is full"),
                        Optional.empty(),
                        vms.now(),
                        vms.now());
        new SnapshotRecords(store).insert(failed, Optional.empty());
        return failed;
    }

    @Override
    public void close() {
        vms.close();
        store.close();
        reflink.close();
    }
}
