package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;

/// The VMs of this server, by id and by their owner's names. Thread-safe.
final class Fleet {
    private final Map<VmId, VmLife> lives = new ConcurrentHashMap<>();

    /// Those of each account in the order of a list, so that a list need not sort them.
    private final Map<AccountId, NavigableMap<Place, VmLife>> ofAccounts =
            new ConcurrentHashMap<>();

    /// Where a VM stands in a list: newest first, ties by id descending. Neither ever changes.
    private record Place(Instant createdAt, String id) implements Comparable<Place> {
        static Place of(Vm vm) {
            return new Place(vm.createdAt(), vm.id().text());
        }

        @Override
        public int compareTo(Place other) {
            int byTime = other.createdAt.compareTo(createdAt);
            return byTime != 0 ? byTime : other.id.compareTo(id);
        }
    }

    void add(VmLife life) {
        var vm = life.vm();
        lives.put(vm.id(), life);
        ofAccounts.compute(
                vm.account(),
                (_, known) -> {
                    var all = known == null ? new ConcurrentSkipListMap<Place, VmLife>() : known;
                    all.put(Place.of(vm), life);
                    return all;
                });
    }

    void remove(VmId id) {
        var life = lives.remove(id);
        if (life != null) {
            var vm = life.vm();
            ofAccounts.computeIfPresent(
                    vm.account(),
                    (_, all) -> {
                        all.remove(Place.of(vm));
                        return all.isEmpty() ? null : all;
                    });
        }
    }

    Collection<VmLife> all() {
        return lives.values();
    }

    Optional<VmLife> find(VmId vm) {
        return Optional.ofNullable(lives.get(vm));
    }

    /// Newest first, ties by id descending.
    Stream<Vm> of(AccountId account) {
        return livesOf(account).map(VmLife::vm);
    }

    private Stream<VmLife> livesOf(AccountId account) {
        return ofAccounts.getOrDefault(account, Collections.emptyNavigableMap()).values().stream();
    }

    /// The VM that a caller names by id or by slug. One of another account is as absent as one that never was.
    VmLife named(AccountId account, String name) {
        var found =
                VmId.isId(name)
                        ? find(new VmId(name)).filter(life -> life.vm().account().equals(account))
                        : livesOf(account)
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
