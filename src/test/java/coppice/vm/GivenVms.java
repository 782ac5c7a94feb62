package coppice.vm;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
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
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

/// Everything that the routes of an API stand on, with VMs that are stopped and snapshots that were never a machine. Nothing here can be
/// started: there is too little memory.
public final class GivenVms implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Size SMALL = Size.ofMib(1);
    private static final Size MORE_THAN_THERE_IS = Size.ofMib(1L << 30);

    /// Those that are usual here.
    public static final VmLimits LIMITS = limits(Optional.empty(), Optional.empty());

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
    private final Networks networks;
    private volatile Size free = SMALL;

    public GivenVms(Path directory) {
        this(directory, LIMITS, InstantSource.system());
    }

    public GivenVms(Path directory, VmLimits limits, InstantSource clock) {
        store = Store.open(directory.resolve("test.db"));
        accounts = new Accounts(store, Clock.systemUTC());
        ada = accounts.create(new Slug("ada"), "Ada").id();
        bob = accounts.create(new Slug("bob"), "Bob").id();
        stopped = stopped(ada, "stopped");
        new VmRecords(store).insert(stopped, false, _ -> {});
        networks = new Networks(store, NetworkLimits.USUAL, Clock.systemUTC());
        host =
                new Vms.Host(
                        directory,
                        reflink,
                        new QemuLauncher(new Hypervisor("tcg", "10.0.2", "max"), "given-vms"),
                        new Node(new Capacity(1, MORE_THAN_THERE_IS, SMALL, 1, 70_000), () -> free),
                        networks,
                        Wiring.NONE);
        vms =
                Vms.open(
                        host,
                        store,
                        accounts,
                        new Snapshots.Catalogue(accounts.platform(), new Slug("debian"), Map.of()),
                        limits,
                        clock);
    }

    /// @param running how many VMs of one account may run
    /// @param all how many VMs one account may have
    public static VmLimits limits(Optional<Integer> running, Optional<Integer> all) {
        return new VmLimits(
                PATIENCE, PATIENCE, PATIENCE, running, all, Optional.empty(), PoolLimits.NONE);
    }

    /// The usual ones, but a start may not take longer than this.
    public static VmLimits startingWithin(Duration start) {
        return new VmLimits(
                start,
                PATIENCE,
                PATIENCE,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                PoolLimits.NONE);
    }

    private Vm stopped(AccountId account, String slug) {
        var state = new VmState.Stopped(Instant.EPOCH, Optional.empty());
        var vm = any.of(account, state);
        var settings = vm.settings().withSlug(Optional.of(new Slug(slug)));
        var resources = new Resources(1, Size.ofMib(512), Size.ofMib(1000));
        return vm.with(with(settings, Timers.NONE), vm.updatedAt())
                .with(vm.hardware().with(resources), vm.updatedAt());
    }

    static Vm.Settings with(Vm.Settings settings, Timers timers) {
        return new Vm.Settings(
                settings.slug(),
                settings.displayName(),
                timers,
                settings.automaticRestart(),
                settings.metadata(),
                settings.activityThreshold());
    }

    public Store store() {
        return store;
    }

    public Networks networks() {
        return networks;
    }

    public Vms vms() {
        return vms;
    }

    public Uploads uploads(InstantSource clock) {
        return new Uploads(vms, new GuestFileAccess(vms, PATIENCE), store, host, clock);
    }

    /// Says that so much of the data volume is free; a megabyte of that is the reserve.
    public void free(Size size) {
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

    /// A VM of Ada's, with one processor, 512 and 1000 MiB, with which no time ever comes for anything.
    public Vm stopped() {
        return stopped;
    }

    /// It has run for as long as it may.
    public void spendBudget() {
        var spent =
                new Timers(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(Duration.ofNanos(1)));
        vms.update(ada, stopped.id().text(), before -> with(before, spent), false);
    }

    /// Something is being done to it, until the result is closed: whatever else is asked of it waits.
    public Busy keepBusy() {
        var begun = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        UnaryOperator<Vm.Settings> change =
                before -> {
                    begun.countDown();
                    await(end);
                    return before;
                };
        Thread.startVirtualThread(() -> change(change));
        await(begun);
        return end::countDown;
    }

    /// See [#keepBusy].
    public interface Busy extends AutoCloseable {
        @Override
        void close();
    }

    private void change(UnaryOperator<Vm.Settings> change) {
        try {
            vms.update(ada, stopped.id().text(), change, false);
        } catch (Failure e) {
            if (e.code() != Code.VM_START_TIMEOUT) { // it goes on without its caller
                throw e;
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
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
