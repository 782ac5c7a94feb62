package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Duration;
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
    Vm create(AccountId account, NewVm wanted) {
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
                            ? Optional.<Warm>empty() // it has an id of its own already
                            : pool.take(snapshot.id());
            var made =
                    ready.flatMap(warm -> fromPool(warm, account, wanted, deadline))
                            .orElseGet(() -> fromSnapshot(account, wanted, snapshot, deadline));
            snapshots.used(snapshot.id());
            return made;
        }
    }

    /// Makes a machine of the pool the VM. One that is not able to costs some time, and nothing else.
    private Optional<Vm> fromPool(Warm warm, AccountId account, NewVm wanted, Deadline deadline) {
        VmLife life;
        try {
            life = enter(as(warm.vm(), account, wanted), wanted.reassignSlug());
        } catch (RuntimeException e) {
            context.machines().delete(warm.vm().id()); // what it was promised is taken back already
            throw e;
        }
        try {
            return Optional.of(awaitBirth(life, warm.birth(context.machines()), deadline));
        } catch (Failure e) {
            LOG.warn("{} of the pool did not go on: {}", warm.vm().id(), e.getMessage());
            return Optional.empty();
        }
    }

    private Vm fromSnapshot(AccountId account, NewVm wanted, Snapshot snapshot, Deadline deadline) {
        var id = wanted.id().orElseGet(VmId::random);
        var vm = as(describe(snapshot, id, context.node().takeUser()), account, wanted);
        return awaitBirth(enter(vm, wanted.reassignSlug()), from(snapshot), deadline);
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

    private static Vm awaitBirth(VmLife life, VmLife.Birth birth, Deadline deadline) {
        try {
            return life.loop().ask(() -> life.create(birth, deadline), deadline);
        } catch (Failure e) {
            life.loop().tell(life::delete); // one that came up too late must not stay: nobody
            // knows of it
            throw e;
        }
    }

    /// Promises a new VM what it needs and writes it; its loop waits to make its machine. A VM that does not come to that is as if it
    /// had never been.
    VmLife enter(Vm vm, boolean reassignSlug) {
        var life = new VmLife(context, vm);
        try {
            context.fleet().requirePlace(vm);
            context.node().promiseMemory(vm.id().text(), vm.hardware().resources().memory());
            var loser = context.records().insert(vm, reassignSlug);
            context.fleet().add(life);
            loser.flatMap(context.fleet()::find)
                    .ifPresent(other -> other.loop().tell(other::loseSlug));
        } catch (RuntimeException e) {
            context.node().releaseMemory(vm.id().text());
            context.node().releaseUser(vm.hardware().user());
            throw e;
        }
        life.loop().start();
        return life;
    }

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
                new Vm.Origin(snapshot.id(), Optional.empty(), Placement.ANYWHERE, "[]"),
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
                        wanted.placement(),
                        wanted.firewall()),
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
