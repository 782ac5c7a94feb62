package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.Optional;

/// How new VMs come to be: promised, written, and then made by their own loops.
final class Creation {
    /// What a new VM writes before anybody works in it.
    static final Size FIRST_WRITES = Size.ofMib(64);

    private final VmContext context;
    private final Snapshots snapshots;
    private final Quota quota;

    Creation(VmContext context, Snapshots snapshots) {
        this.context = context;
        this.snapshots = snapshots;
        this.quota = new Quota(context.fleet(), context.limits());
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
            var life = enter(describe(account, wanted, snapshot), wanted.reassignSlug());
            var made = awaitBirth(life, from(snapshot), deadline);
            snapshots.used(snapshot.id());
            return made;
        }
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

    private Vm describe(AccountId account, NewVm wanted, Snapshot snapshot) {
        var now = context.clock().instant();
        var capture = Capture.read(snapshots.directory(snapshot.id()));
        return new Vm(
                VmId.random(),
                account,
                new VmState.Creating(now),
                wanted.settings(),
                new Vm.Hardware(Resources.of(capture), capture.shape(), context.node().takeUser()),
                new Vm.Origin(
                        snapshot.id(),
                        snapshots.label(snapshot.id()).flatMap(label -> label.slugFor(account)),
                        wanted.placement(),
                        wanted.firewall()),
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
