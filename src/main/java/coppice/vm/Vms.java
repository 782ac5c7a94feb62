package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.disk.Reflink;
import coppice.guest.Exec;
import coppice.guest.ExecOutcome;
import coppice.guest.StreamedExec;
import coppice.guest.TerminalDescription;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.network.Networks;
import coppice.network.Rule;
import coppice.node.Node;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/// The door of this package: everything that is done to VMs. Each call names the account it is for and returns when the VM has reached the
/// state that was asked for. Thread-safe.
///
/// Failures: `NOT_FOUND` for what the account does not have, `CONFLICT` for the wrong state, a slug that is taken or no capacity,
/// `VM_START_TIMEOUT` and `UNAVAILABLE` for a VM that does not come up; then the VM is what it was before.
public final class Vms implements Guests, AutoCloseable {
    private static final Duration FINISH = Duration.ofSeconds(20);

    private final VmContext context;
    private final Snapshots snapshots;
    private final Execs execs;
    private final Creation creation;
    private final Forks forks;
    private final DeletedVms deleted;
    private final Traffic traffic = new Traffic();
    private final NetworkNews news;

    private Vms(VmContext context, Snapshots snapshots, DeletedVms deleted) {
        this.context = context;
        this.news = new NetworkNews(context.machines().wiring());
        this.snapshots = snapshots;
        this.deleted = deleted;
        this.execs = new Execs();
        this.creation = new Creation(context, snapshots, context.limits().pool());
        this.forks = new Forks(context, creation);
    }

    /// What VMs are made with.
    ///
    /// @param root directory for the files of VMs and snapshots, on a file system with reflink
    public record Host(
            Path root,
            Reflink reflink,
            QemuLauncher launcher,
            Node node,
            Networks networks,
            Wiring wiring) {}

    /// Takes over what a former server left: adopts VMs that run, takes back what was half done, ends what belongs to nobody.
    public static Vms open(
            Host host,
            Store store,
            Accounts accounts,
            Snapshots.Catalogue catalogue,
            VmLimits limits,
            InstantSource clock) {
        var files = new VmFiles(host.root(), host.reflink());
        files.prepare();
        var context =
                new VmContext(
                        new VmRecords(store),
                        new Machines(files, host.launcher(), host.wiring(), clock),
                        host.networks(),
                        host.node(),
                        clock,
                        limits,
                        new Fleet());
        OldVms.connect(context.records(), host.networks(), host.node());
        new Recovery(
                        context,
                        files,
                        new Strangers(
                                store,
                                context.records(),
                                new SnapshotRecords(store),
                                new UploadRecords(store),
                                files,
                                host.launcher()))
                .run();
        var vms =
                new Vms(
                        context,
                        new Snapshots(store, accounts, files, catalogue, limits.snapshots(), clock),
                        new DeletedVms(store, clock));
        vms.creation.pool().start();
        return vms;
    }

    /// One page of a list, and how many VMs the filter matches, by the word of their state.
    public record Listing(List<Vm> vms, Map<String, Long> counts) {
        public long total() {
            return counts.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    /// A VM and the firewall rules that came with it, in the order in which they were given.
    public record Created(Vm vm, List<Rule> rules) {}

    public Created create(AccountId account, NewVm wanted) {
        return creation.create(account, wanted);
    }

    /// The account's VMs, newest first.
    public Listing list(AccountId account, VmFilter filter, long offset, int limit) {
        var origin = filter.snapshot().map(name -> origin(account, name));
        var page = new ArrayList<Vm>();
        var counts = new HashMap<String, Long>();
        long matching = 0;
        for (var vm : (Iterable<Vm>) context.fleet().of(account)::iterator) {
            if (filter.matches(vm, origin)) {
                counts.merge(vm.state().word(), 1L, Long::sum);
                if (matching >= offset && page.size() < limit) {
                    page.add(vm);
                }
                matching++;
            }
        }
        return new Listing(List.copyOf(page), counts);
    }

    /// An unknown id is no mistake: VMs outlive snapshots. An unknown slug is.
    private SnapshotId origin(AccountId account, String name) {
        return SnapshotId.isId(name) ? new SnapshotId(name) : snapshots.named(account, name).id();
    }

    @Override
    public Vm get(AccountId account, String name) {
        return context.fleet().named(account, name).vm();
    }

    /// What [#get] throws when the account has no VM of this name.
    public static Failure absent(String name) {
        return Fleet.absent(name);
    }

    /// Changes the settings. With `reassign`, their slug is taken from the VM that holds it.
    public Vm update(
            AccountId account, String name, UnaryOperator<Vm.Settings> change, boolean reassign) {
        var life = context.fleet().named(account, name);
        var changed =
                life.loop()
                        .ask(
                                () -> life.update(change, reassign),
                                Deadline.in(context.limits().start()));
        if (reassign) {
            changed.settings()
                    .slug()
                    .ifPresent(
                            slug ->
                                    context.fleet()
                                            .of(account)
                                            .filter(vm -> !vm.id().equals(changed.id()))
                                            .filter(
                                                    vm ->
                                                            vm.settings()
                                                                    .slug()
                                                                    .equals(Optional.of(slug)))
                                            .forEach(vm -> takeSlug(vm.id())));
        }
        return changed;
    }

    public Vm start(AccountId account, String name) {
        return start(account, name, Optional.empty());
    }

    /// @param patience how long to wait, if not as long as a start may take; the start goes on without the caller
    public Vm start(AccountId account, String name, Optional<Duration> patience) {
        return context.fleet().named(account, name).waker().start(patience);
    }

    public Vm pause(AccountId account, String name) {
        var life = context.fleet().named(account, name);
        var deadline = Deadline.in(context.limits().pause());
        switch (life.vm().state()) {
            case VmState.Creating _, VmState.Starting _, VmState.Restarting _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is starting; pause it when it runs".formatted(life.vm().id()));
            case VmState.Running _, VmState.Pausing _, VmState.Paused _, VmState.Stopped _ -> {}
        }
        return life.loop().ask(() -> life.pause(deadline), deadline);
    }

    public Vm stop(AccountId account, String name) {
        var life = context.fleet().named(account, name);
        switch (life.vm().state()) {
            case VmState.Creating _, VmState.Starting _, VmState.Restarting _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is starting; stop it when it runs, or kill it"
                                    .formatted(life.vm().id()));
            case VmState.Pausing _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is pausing; stop it when that is done, or kill it"
                                    .formatted(life.vm().id()));
            case VmState.Running _, VmState.Paused _, VmState.Stopped _ -> {}
        }
        var deadline = Deadline.in(context.limits().powerOff().plus(Duration.ofSeconds(30)));
        return life.loop().ask(() -> life.stop(deadline), deadline);
    }

    public Vm kill(AccountId account, String name) {
        var life = context.fleet().named(account, name);
        var before = life.vm().state();
        var killed = life.cutFor(life::kill, Deadline.in(context.limits().pause()));
        if (!(before instanceof VmState.Stopped)
                && killed.state() instanceof VmState.Stopped(var since, _)) {
            context.records().killed(killed.id(), since);
        }
        return killed;
    }

    /// Whether a VM that is stopped was killed; a stop that it came to by itself or in good order is none.
    public boolean wasKilled(Vm vm) {
        return vm.state() instanceof VmState.Stopped(var since, _)
                && context.records().wasKilled(vm.id(), since);
    }

    public void delete(AccountId account, String name) {
        var life = context.fleet().named(account, name);
        try {
            life.cutFor(life::delete, Deadline.in(context.limits().pause()));
        } catch (Failure e) {
            if (!life.loop().isGone()) {
                throw e;
            }
            // It was being created, and went because it was cut: that is what was asked for.
        }
    }

    public Vm resize(AccountId account, String name, Growth growth) {
        var life = context.fleet().named(account, name);
        var deadline = Deadline.in(context.limits().start());
        return life.loop().ask(() -> life.resize(growth, deadline), deadline);
    }

    /// Takes a snapshot of a VM that runs or is paused; the VM stays what it is.
    public Snapshot snapshot(AccountId account, String name, NewSnapshot wanted) {
        var life = context.fleet().named(account, name);
        requireSettled(life.vm(), "take the snapshot");
        var deadline = Deadline.in(context.limits().pause());
        return snapshots.take(
                account,
                wanted,
                life.vm().id(),
                place -> life.loop().ask(() -> life.snapshot(place, deadline), deadline));
    }

    /// The copies of a VM, in the order in which they were made, and the VM they are copies of.
    public record Forked(Vm source, List<Vm> copies) {}

    /// Copies a VM, memory and disk, into new VMs that go on from the same instant. All of them or none.
    public Forked fork(AccountId account, String name, NewFork wanted) {
        var life = context.fleet().named(account, name);
        requireSettled(life.vm(), "fork it");
        return forks.fork(life, wanted);
    }

    private static void requireSettled(Vm vm, String act) {
        switch (vm.state()) {
            case VmState.Creating _, VmState.Starting _, VmState.Restarting _, VmState.Pausing _ ->
                    throw new Failure(
                            Code.CONFLICT,
                            "%s is %s; %s when that is done"
                                    .formatted(vm.id(), vm.state().word(), act));
            case VmState.Running _, VmState.Paused _, VmState.Stopped _ -> {}
        }
    }

    /// Uses the guest of a VM, which is started first if it rests, waited for if it is starting or pausing, and held awake
    /// until the use ends: it is not idle meanwhile. Fails as a start does, and with `UNAVAILABLE` when the agent cannot be reached by
    /// the deadline. When the VM ends or somebody pauses it during the use, the guest's calls fail with `UNAVAILABLE`.
    @Override
    public <T> T awake(AccountId account, String name, Deadline deadline, AwakeUse<T> use) {
        return context.fleet().named(account, name).waker().use(deadline, use);
    }

    /// As [#awake], for a use that goes on after this returns: until the result is closed.
    AwakeGuest hold(AccountId account, String name, Deadline deadline) {
        return context.fleet().named(account, name).waker().hold(deadline);
    }

    /// As [#awake] for what was begun before, but no VM is woken for it or held awake by it: waits until the VM runs. `UNAVAILABLE` if it
    /// has stopped.
    @Override
    public <T> T reach(AccountId account, VmId vm, Deadline deadline, AwakeUse<T> use) {
        return context.fleet().named(account, vm.text()).waker().reach(deadline, use);
    }

    /// What tells when a VM was last used, and what says that it is being used.
    @Override
    public Optional<Activity> activity(VmId vm) {
        return context.fleet().find(vm).map(VmLife::activity);
    }

    @Override
    public List<TerminalDescription> pausedTerminals(VmId vm, UUID generation) {
        return PausedTerminals.read(vm, context.machines().pauseOf(vm, generation));
    }

    /// Runs a command in a VM, waking it first. Its guest keeps the result for ten minutes, see [#await].
    public ExecOutcome exec(AccountId account, String name, Exec exec) {
        return execs.run(context.fleet().named(account, name), exec);
    }

    /// Runs a command whose streams others hold, waking the VM first. It goes on through pauses.
    @Override
    public ExecOutcome stream(AccountId account, VmId vm, StreamedExec exec, Duration timeLimit) {
        return execs.run(context.fleet().named(account, vm.text()), exec, timeLimit);
    }

    /// Goes on waiting for a command of an earlier call, perhaps of an earlier server. No VM is woken for it: a command in
    /// a paused VM goes on when its VM does. `UNAVAILABLE` if the guest does not know the command any more, or the VM stopped.
    public ExecOutcome await(AccountId account, StartedExec started) {
        return execs.await(context.fleet().named(account, started.vm().text()), started);
    }

    /// CPU time of the VM's present run, while it runs.
    public Optional<Duration> cpuTime(VmId vm) {
        return context.fleet().find(vm).flatMap(VmLife::live).flatMap(live -> live.cpu().read());
    }

    /// Has done what time has come for, without waiting for it: see [LifeTimers].
    void keepTime() {
        var passed = context.machines().wiring().traffic();
        traffic.look(passed, context.clock().instant(), context.fleet()::find);
        news.look(context.fleet());
        context.fleet().all().forEach(VmLife::lookAtTime);
    }

    public Snapshots snapshots() {
        return snapshots;
    }

    /// Those that were deleted a short while ago.
    public DeletedVms deleted() {
        return deleted;
    }

    public Instant now() {
        return context.clock().instant();
    }

    private void takeSlug(VmId loser) {
        context.fleet().find(loser).ifPresent(life -> life.loop().tell(life::loseSlug));
    }

    /// Lets go of all VMs: they go on without this server. What is being done to one is finished first, so that none is left frozen
    /// in the middle of a capture.
    @Override
    public void close() {
        creation.pool().close();
        var deadline = Deadline.in(FINISH);
        context.fleet().all().forEach(life -> life.loop().finish());
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            context.fleet().all().forEach(life -> threads.execute(() -> letGo(life, deadline)));
        }
    }

    private static void letGo(VmLife life, Deadline deadline) {
        life.loop().awaitEnd(deadline);
        life.live().ifPresent(Machines.Live::close);
    }
}
