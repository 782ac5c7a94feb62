package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeletedVmsTest {
    private static final Instant START = Instant.parse("2026-03-01T09:30:00Z");
    private static final Duration DAY = Duration.ofHours(24);

    @TempDir private Path directory;
    private final AnyVm any = new AnyVm(Seed.random(DeletedVmsTest.class));
    private Instant now = START;
    private Store store;
    private VmRecords records;
    private DeletedVms deleted;
    private AccountId ada;
    private AccountId bob;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        records = new VmRecords(store);
        deleted = new DeletedVms(store, () -> now);
        var accounts = new Accounts(store, Clock.systemUTC());
        ada = accounts.create(new Slug("ada"), "Ada").id();
        bob = accounts.create(new Slug("bob"), "Bob").id();
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void aDeletedVmIsToldOfForADayAndToItsAccountOnly() {
        var vm = insert(stopped());
        records.delete(vm.id(), now, _ -> {});
        var found = deleted.find(ada, vm.id()).orElseThrow();
        assertEquals(
                new DeletedVm(
                        vm.id(),
                        ada,
                        vm.origin().snapshot(),
                        vm.legacy().persistence(),
                        vm.legacy().isDeclared(),
                        vm.legacy().recipe(),
                        vm.createdAt(),
                        START),
                found);
        assertEquals(List.of(), deleted.of(bob));
        assertEquals(Optional.empty(), deleted.find(bob, vm.id()));
        now = START.plus(DAY).minusMillis(1);
        assertEquals(List.of(found), deleted.of(ada));
        now = START.plus(DAY);
        assertEquals(List.of(), deleted.of(ada));
        records.delete(insert(stopped()).id(), now, _ -> {});
        assertEquals(1, rows(), "the next delete forgets it");
    }

    @Test
    void aVmThatNeverCameToLifeIsNotToldOf() {
        var vm = insert(any.of(ada, new VmState.Creating(START)));
        records.delete(vm.id(), now, _ -> {});
        assertEquals(0, rows());
    }

    @Test
    void aVmThatIsMadeAnewIsNoDeletedOneUntilItGoesAgain() {
        var vm = insert(stopped());
        records.delete(vm.id(), now, _ -> {});
        insert(
                new Vm(
                        vm.id(),
                        ada,
                        new VmState.Creating(START),
                        vm.settings(),
                        vm.hardware(),
                        vm.origin(),
                        vm.legacy(),
                        Duration.ZERO,
                        START,
                        START));
        assertEquals(List.of(), deleted.of(ada));
        records.delete(vm.id(), now, _ -> {}); // it did not come to life
        assertEquals(START, deleted.find(ada, vm.id()).orElseThrow().deletedAt());
        insert(vm);
        now = START.plusSeconds(60);
        records.delete(vm.id(), now, _ -> {});
        assertEquals(now, deleted.find(ada, vm.id()).orElseThrow().deletedAt());
        deleted.forget(vm.id());
        assertEquals(List.of(), deleted.of(ada));
    }

    @Test
    void onlyTheStopThatWasAKillIsToldAsOne() {
        var vm = insert(stopped());
        var stopped = vm.state().since();
        assertFalse(records.wasKilled(vm.id(), stopped));
        records.killed(vm.id(), stopped);
        assertTrue(records.wasKilled(vm.id(), stopped));
        assertFalse(records.wasKilled(vm.id(), stopped.plusMillis(1)));
    }

    private Vm stopped() {
        return any.of(ada, new VmState.Stopped(START, Optional.empty()));
    }

    private Vm insert(Vm vm) {
        records.insert(vm, false, _ -> {});
        return vm;
    }

    private long rows() {
        return store.read(
                handle ->
                        handle.createQuery("select count(*) from deleted_vms")
                                .mapTo(Long.class)
                                .one());
    }
}
