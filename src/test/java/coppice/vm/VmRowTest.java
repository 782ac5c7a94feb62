package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Through a real store: what is written is what the next server reads.
class VmRowTest {
    @TempDir private Path directory;
    private Store store;
    private VmRecords records;
    private List<AccountId> accounts;
    private final AnyVm any = new AnyVm(Seed.random(VmRowTest.class));

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        records = new VmRecords(store);
        var made = new Accounts(store, Clock.systemUTC());
        accounts =
                List.of(
                        made.platform().id(),
                        made.create(new Slug("ada"), "Ada").id(),
                        made.create(new Slug("bob"), "Bob").id());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void everyVmIsReadAsItWasWritten() {
        var written = new HashMap<VmId, Vm>();
        var states = new HashSet<Class<?>>();
        while (written.size() < 200) {
            var vm = any.of(accounts.get(written.size() % accounts.size()));
            records.insert(vm, false, _ -> {});
            written.put(vm.id(), vm);
            states.add(vm.state().getClass());
        }
        assertEquals(7, states.size(), "every state was tried");
        assertSame(written, stored());
    }

    @Test
    void aChangeOfStateLeavesNothingOfTheStateBeforeAndTheSettingsAsTheyAre() {
        var vm = any.of(accounts.getFirst());
        records.insert(vm, false, _ -> {});
        for (int n = 0; n < 100; n++) {
            var other = any.of(accounts.getFirst());
            var moved =
                    new Vm(
                            vm.id(),
                            vm.account(),
                            other.state(),
                            other.settings(), // must not be written
                            other.hardware(),
                            vm.origin(),
                            vm.legacy(),
                            other.history(),
                            other.totalRun(),
                            vm.createdAt(),
                            other.updatedAt());
            records.changeProgress(moved);
            vm = moved.with(vm.settings(), moved.updatedAt());
            assertSame(Map.of(vm.id(), vm), stored());
        }
    }

    @Test
    void aChangeOfSettingsLeavesStateAndHardwareAsTheyAre() {
        var vm = any.of(accounts.getFirst());
        records.insert(vm, false, _ -> {});
        for (int n = 0; n < 50; n++) {
            var other = any.of(accounts.getFirst());
            records.changeSettings(
                    new Vm(
                            vm.id(),
                            vm.account(),
                            other.state(), // must not be written
                            other.settings(),
                            other.hardware(),
                            vm.origin(),
                            vm.legacy(),
                            other.history(), // must not be written either
                            other.totalRun(),
                            vm.createdAt(),
                            other.updatedAt()),
                    false);
            vm = vm.with(other.settings(), other.updatedAt());
            assertSame(Map.of(vm.id(), vm), stored());
        }
    }

    @Test
    void aSlugThatIsTakenIsAConflictInItsAccountOnly() {
        var holder = named(accounts.get(0), "web");
        records.insert(holder, false, _ -> {});
        records.insert(named(accounts.get(1), "web"), false, _ -> {});
        var second = named(accounts.get(0), "web");
        assertConflict(() -> records.insert(second, false, _ -> {}));
        assertEquals(2, stored().size());

        var third = named(accounts.get(0), "db");
        records.insert(third, false, _ -> {});
        var renamed = third.with(holder.settings(), third.updatedAt());
        assertConflict(() -> records.changeSettings(renamed, false));
        assertEquals(third, stored().get(third.id()));
    }

    @Test
    void aSlugThatIsTakenOverLeavesItsHolderInTheSameInstant() {
        var holder = named(accounts.get(0), "web");
        var stranger = named(accounts.get(1), "web");
        records.insert(holder, false, _ -> {});
        records.insert(stranger, false, _ -> {});
        var taker = named(accounts.get(0), "web");
        assertEquals(Optional.of(holder.id()), records.insert(taker, true, _ -> {}));
        var loser = holder.with(holder.settings().withSlug(Optional.empty()), holder.updatedAt());
        assertSame(Map.of(loser.id(), loser, taker.id(), taker, stranger.id(), stranger), stored());
        // Taking what one has takes it from nobody.
        assertEquals(Optional.empty(), records.changeSettings(taker, true));
    }

    @Test
    void aDeletedVmIsGoneAndDeletingItAgainChangesNothing() {
        var one = any.of(accounts.getFirst());
        var other = any.of(accounts.getFirst());
        records.insert(one, false, _ -> {});
        records.insert(other, false, _ -> {});
        records.delete(one.id(), Instant.now(), _ -> {});
        records.delete(one.id(), Instant.now(), _ -> {});
        assertSame(Map.of(other.id(), other), stored());
    }

    private Vm named(AccountId account, String slug) {
        var vm = any.of(account);
        return vm.with(vm.settings().withSlug(Optional.of(new Slug(slug))), vm.updatedAt());
    }

    private Map<VmId, Vm> stored() {
        var found = new HashMap<VmId, Vm>();
        records.all().forEach(vm -> found.put(vm.id(), vm));
        return found;
    }

    private static void assertSame(Map<VmId, Vm> expected, Map<VmId, Vm> actual) {
        assertEquals(expected.keySet(), actual.keySet());
        for (var id : new ArrayList<>(expected.keySet())) {
            assertEquals(expected.get(id), actual.get(id));
        }
    }

    private static void assertConflict(org.junit.jupiter.api.function.Executable executable) {
        assertEquals(Code.CONFLICT, assertThrows(Failure.class, executable).code());
    }
}
