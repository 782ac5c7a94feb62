package coppice.api.legacy;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.network.Matcher;
import coppice.network.NewNic;
import coppice.network.NewRule;
import coppice.vm.DeletedVm;
import coppice.vm.Growth;
import coppice.vm.Vm;
import coppice.vm.VmId;
import coppice.vm.Vms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Makes VMs as legacy bodies describe them: from a snapshot, grown to their sizes, set up inside, and ready. One whose set-up fails is
/// removed; one that is only not ready in time stays.
final class LegacyCreation {
    private static final Duration SETUP = Duration.ofMinutes(10);

    private final Vms vms;

    LegacyCreation(Vms vms) {
        this.vms = vms;
    }

    Vm create(AccountId account, JsonObject body) {
        return create(account, body, Optional.empty());
    }

    /// Makes a deleted VM anew from the body that it was created with.
    Vm again(AccountId account, DeletedVm deleted) {
        var recipe = deleted.recipe().orElseThrow();
        return create(
                account,
                Json.parse(recipe.getBytes(StandardCharsets.UTF_8)),
                Optional.of(deleted.id()));
    }

    private Vm create(AccountId account, JsonObject body, Optional<VmId> id) {
        var wanted = read(account, body);
        var vm = enter(account, wanted, id);
        try {
            grow(vm, wanted.sizes());
            setup(vm).run(wanted.setup());
        } catch (RuntimeException e) {
            remove(vm, id.isEmpty(), e);
            throw e;
        }
        awaitReady(vm, wanted, id.isEmpty());
        return vm;
    }

    private NewLegacyVm read(AccountId account, JsonObject body) {
        try {
            var wanted = NewLegacyVm.read(body);
            wanted.snapshot()
                    .map(name -> vms.snapshots().named(account, name))
                    .flatMap(snapshot -> snapshot.resources())
                    .ifPresent(wanted.sizes()::requireRoomFor);
            return wanted;
        } catch (Failure e) {
            throw LegacyFailures.creating(e, snapshotOf(body));
        }
    }

    private Vm enter(AccountId account, NewLegacyVm wanted, Optional<VmId> id) {
        try {
            return vms.create(account, wanted.vm(new NewNic(Optional.empty(), internet()), id))
                    .vm();
        } catch (Failure e) {
            throw LegacyFailures.creating(e, wanted.snapshot());
        }
    }

    private static Optional<String> snapshotOf(JsonObject body) {
        return body.string("snapshotId")
                .or(() -> body.object("template").flatMap(t -> t.string("snapshotId")));
    }

    /// What a running machine cannot be given, it gets by a boot.
    private void grow(Vm vm, NewLegacyVm.Sizes sizes) {
        var now = vm.hardware().resources();
        try {
            sizes.requireRoomFor(now);
        } catch (Failure e) {
            throw LegacyFailures.creating(e, Optional.empty());
        }
        var cpu = sizes.cpu().filter(wanted -> wanted > now.cpu());
        var memory = larger(sizes.memory(), now.memory());
        var storage = larger(sizes.storage(), now.storage());
        if (storage.isPresent()) {
            resize(vm, new Growth(Optional.empty(), Optional.empty(), storage));
        }
        if (cpu.isPresent() || memory.isPresent()) {
            growMachine(vm, new Growth(cpu, memory, Optional.empty()));
        }
    }

    private void growMachine(Vm vm, Growth growth) {
        try {
            resize(vm, growth);
        } catch (Failure e) {
            if (e.code() != Code.CONFLICT) {
                throw e;
            }
            vms.stop(vm.account(), vm.id().text());
            resize(vm, growth);
            vms.start(vm.account(), vm.id().text());
        }
    }

    private static Optional<Size> larger(Optional<Size> wanted, Size now) {
        return wanted.filter(size -> size.compareTo(now) > 0);
    }

    private void resize(Vm vm, Growth growth) {
        vms.resize(vm.account(), vm.id().text(), growth);
    }

    private void awaitReady(Vm vm, NewLegacyVm wanted, boolean isNew) {
        if (wanted.readiness().isEmpty()) {
            return;
        }
        try {
            setup(vm).awaitReady(wanted.setup(), wanted.readiness().get());
        } catch (Failure e) {
            if (e.code() != Code.VM_START_TIMEOUT) {
                remove(vm, isNew, e);
            }
            throw e;
        }
    }

    private GuestSetup setup(Vm vm) {
        return new GuestSetup(
                GuestShell.of(vms, vm), vm.origin().snapshot().text(), Deadline.in(SETUP));
    }

    /// Why it is removed is what the caller is told, whatever else fails now. One that was there before can be made anew again.
    private void remove(Vm vm, boolean isNew, RuntimeException why) {
        try {
            vms.delete(vm.account(), vm.id().text());
            if (isNew) {
                vms.deleted().forget(vm.id());
            }
        } catch (RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    /// Legacy VMs state no rules, and their users expect the Internet.
    static List<NewRule> internet() {
        return List.of(new NewRule(Matcher.BARE, Matcher.INTERNET, Optional.empty()));
    }
}
