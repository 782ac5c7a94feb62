package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.network.MemberId;
import coppice.network.NewNic;
import coppice.network.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How new VMs come to be: promised, written, and then made by their own loops.
final class Creation {
    private static final Logger LOG = LoggerFactory.getLogger(Creation.class);

    /// What a new VM writes before anybody works in it.
    static final Size FIRST_WRITES = Size.ofMib(64);

    private final VmContext context;
    private final Snapshots snapshots;
    private final Quota quota;
    private final Pool pool;

    Creation(VmContext context, Snapshots snapshots, PoolLimits ready) {
        this.context = context;
        this.snapshots = snapshots;
        this.quota = new Quota(context.fleet(), context.limits());
        this.pool = new Pool(context, this, ready);
    }

    Pool pool() {
        return pool;
    }

    Quota quota() {
        return quota;
    }

    /// A VM from a snapshot.
    Vms.Created create(AccountId account, NewVm wanted) {
        var snapshot =
                wanted.snapshot()
                        .map(name -> snapshots.named(account, name))
                        .orElseGet(snapshots::defaultSnapshot);
        if (!wanted.reassignSlug()) {
            wanted.settings().slug().ifPresent(slug -> requireFree(account, slug));
        }
        quota.requireRunning(account, 1);
        quota.requireVms(account, 1);
        var deadline = Deadline.in(context.limits().start());
        try (var _ = context.node().takeRoom(FIRST_WRITES)) {
            var ready =
                    wanted.id().isPresent()
                            ? Optional.<Warm>empty() // who has an id has a machine already
                            : pool.take(snapshot.id());
            var made =
                    ready.flatMap(warm -> fromPool(warm, account, wanted, deadline))
                            .orElseGet(() -> fromSnapshot(account, wanted, snapshot, deadline));
            snapshots.used(snapshot.id());
            return made;
        }
    }

    /// Makes a machine of the pool the VM. One that is not able to costs some time, and nothing else.
    private Optional<Vms.Created> fromPool(
            Warm warm, AccountId account, NewVm wanted, Deadline deadline) {
        Entered entered;
        try {
            entered = enter(as(warm.vm(), account, wanted), wanted.nic(), wanted.reassignSlug());
        } catch (RuntimeException e) {
            context.machines().delete(warm.vm().id()); // what it was promised is taken back already
            throw e;
        }
        try {
            return Optional.of(awaitBirth(entered, warm.birth(context.machines()), deadline));
        } catch (Failure e) {
            LOG.warn("{} of the pool did not go on: {}", warm.vm().id(), e.getMessage());
            return Optional.empty();
        }
    }

    private Vms.Created fromSnapshot(
            AccountId account, NewVm wanted, Snapshot snapshot, Deadline deadline) {
        var id = wanted.id().orElseGet(VmId::random);
        var vm = as(describe(snapshot, id, context.node().takeUser()), account, wanted);
        return awaitBirth(enter(vm, wanted.nic(), wanted.reassignSlug()), from(snapshot), deadline);
    }

    /// What a machine of a snapshot would be, that is made ahead of time.
    Vm plan(SnapshotId snapshot) {
        return describe(
                snapshots.byId(snapshot).orElseThrow(), VmId.random(), context.node().takeUser());
    }

    /// Makes a machine that was planned. When it fails nothing is left of it.
    Warm warm(Vm planned, Deadline deadline) {
        try {
            context.node()
                    .promiseSpareMemory(
                            planned.id().text(), planned.hardware().resources().memory());
            var capture = snapshots.directory(planned.origin().snapshot());
            return Warm.make(context, planned, capture, deadline);
        } catch (RuntimeException e) {
            pool.end(planned);
            throw e;
        }
    }

    boolean exists(SnapshotId snapshot) {
        return snapshots.byId(snapshot).isPresent();
    }

    private VmLife.Birth from(Snapshot snapshot) {
        return (vm, run, onExit, deadline) -> {
            try (var _ = context.node().awaitTurn(deadline)) {
                return context.machines()
                        .create(vm, snapshots.directory(snapshot.id()), run, onExit, deadline);
            }
        };
    }

    private static Vms.Created awaitBirth(Entered entered, VmLife.Birth birth, Deadline deadline) {
        var life = entered.life();
        try {
            var vm = life.loop().ask(() -> life.create(birth, deadline), deadline);
            return new Vms.Created(vm, entered.rules());
        } catch (Failure e) {
            life.loop().tell(life::delete); // one that came up too late must not stay: nobody
            // knows of it
            throw e;
        }
    }

    /// Promises a new VM what it needs and writes it; its loop waits to make its machine. A VM that does not come to that is as if it
    /// had never been.
    Entered enter(Vm vm, NewNic nic, boolean reassignSlug) {
        var life = new VmLife(context, vm);
        try {
            context.fleet().requirePlace(vm);
            context.node().promiseMemory(vm.id().text(), vm.hardware().resources().memory());
            var joined =
                    context.networks()
                            .join(
                                    vm.account(),
                                    new MemberId(vm.id().text()),
                                    context.node().slot(vm.hardware().user()),
                                    nic,
                                    more -> context.records().insert(vm, reassignSlug, more));
            context.fleet().add(life);
            joined.written()
                    .flatMap(context.fleet()::find)
                    .ifPresent(other -> other.loop().tell(other::loseSlug));
            life.loop().start();
            return new Entered(life, joined.rules());
        } catch (RuntimeException e) {
            context.node().releaseMemory(vm.id().text());
            context.node().releaseUser(vm.hardware().user());
            throw e;
        }
    }

    /// A VM that is written, and the firewall rules that came with it.
    record Entered(VmLife life, List<Rule> rules) {}

    /// A VM of a snapshot as far as the snapshot says. It is nobody's yet.
    private Vm describe(Snapshot snapshot, VmId id, int user) {
        var now = context.clock().instant();
        var capture = Capture.read(snapshots.directory(snapshot.id()));
        return new Vm(
                id,
                snapshot.account(),
                new VmState.Creating(now),
                Vm.Settings.NONE,
                new Vm.Hardware(Resources.of(capture), capture.shape(), user),
                new Vm.Origin(snapshot.id(), Optional.empty(), Placement.ANYWHERE),
                Duration.ZERO,
                now,
                now);
    }

    private Vm as(Vm described, AccountId account, NewVm wanted) {
        var now = context.clock().instant();
        var snapshot = described.origin().snapshot();
        return new Vm(
                described.id(),
                account,
                new VmState.Creating(now),
                wanted.settings(),
                described.hardware(),
                new Vm.Origin(
                        snapshot,
                        snapshots.label(snapshot).flatMap(label -> label.slugFor(account)),
                        wanted.placement()),
                wanted.legacy(),
                Duration.ZERO,
                now,
                now);
    }

    private void requireFree(AccountId account, Slug slug) {
        if (context.fleet()
                .of(account)
                .anyMatch(vm -> vm.settings().slug().equals(Optional.of(slug)))) {
            throw new Failure(
                    Code.CONFLICT,
                    "slug: '%s' is held by another VM; choose another one or send reassignSlug"
                            .formatted(slug));
        }
    }
}
