package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// The VMs of this server, by id and by their owner's names. Thread-safe.
final class Fleet {
    private final Map<VmId, VmLife> lives = new ConcurrentHashMap<>();

    void add(VmLife life) {
        lives.put(life.vm().id(), life);
    }

    void remove(VmId vm) {
        lives.remove(vm);
    }

    Collection<VmLife> all() {
        return lives.values();
    }

    Optional<VmLife> find(VmId vm) {
        return Optional.ofNullable(lives.get(vm));
    }

    Stream<Vm> of(AccountId account) {
        return lives.values().stream().map(VmLife::vm).filter(vm -> vm.account().equals(account));
    }

    /// The VM that a caller names by id or by slug. One of another account is as absent as one that never was.
    VmLife named(AccountId account, String name) {
        var found =
                VmId.isId(name)
                        ? find(new VmId(name)).filter(life -> life.vm().account().equals(account))
                        : lives.values().stream()
                                .filter(life -> life.vm().account().equals(account))
                                .filter(
                                        life ->
                                                life.vm()
                                                        .settings()
                                                        .slug()
                                                        .map(Slug::text)
                                                        .equals(Optional.of(name)))
                                .findFirst();
        return found.orElseThrow(() -> absent(name));
    }

    /// Refuses a VM whose placement forbids this host because of a VM that it holds. Stopped VMs are held by no host.
    void requirePlace(Vm vm) {
        var placement = vm.origin().placement();
        var other =
                of(vm.account())
                        .filter(
                                o ->
                                        !o.id().equals(vm.id())
                                                && !(o.state() instanceof VmState.Stopped))
                        .filter(o -> placement.forbids(o.settings().metadata()))
                        .findAny();
        other.ifPresent(
                o -> {
                    throw new Failure(
                            Code.CONFLICT,
                            "placement: no host without a VM that matches antiAffinity; %s is on the only one"
                                    .formatted(o.id()));
                });
    }

    static Failure absent(String name) {
        var clean = name.replaceAll("\\p{Cntrl}", "?");
        return new Failure(
                Code.NOT_FOUND,
                "no VM " + (clean.length() <= 80 ? clean : clean.substring(0, 80) + "..."));
    }
}
