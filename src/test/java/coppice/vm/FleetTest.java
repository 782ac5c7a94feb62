package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.identity.AccountId;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
import coppice.node.Capacity;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FleetTest {
    private static final AccountId ADA = AccountId.random();
    private static final AccountId BOB = AccountId.random();
    private static final Size SMALL = Size.ofMib(1);

    @TempDir private Path directory;
    private final Random random = Seed.random(FleetTest.class);
    private final AnyVm any = new AnyVm(random);
    private final Fleet fleet = new Fleet();
    private final Reflink reflink = new Reflink();
    private Store store;
    private VmContext context;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        var launcher = new QemuLauncher(new Hypervisor("tcg", "10.0.2", "max"), "fleet-test");
        var clock = InstantSource.system();
        context =
                new VmContext(
                        new VmRecords(store),
                        new Machines(new VmFiles(directory, reflink), launcher, Wiring.NONE, clock),
                        new Networks(store, NetworkLimits.USUAL, clock),
                        new Node(new Capacity(1, SMALL, SMALL, 1, 70_000), () -> SMALL),
                        clock,
                        new VmLimits(
                                Duration.ZERO,
                                Duration.ZERO,
                                Duration.ZERO,
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                PoolLimits.NONE),
                        fleet);
    }

    @AfterEach
    void close() {
        store.close();
        reflink.close();
    }

    @Test
    void aVmIsFoundByItsOwnerOnly() {
        var vm = add(ADA, "web", Map.of());
        assertSame(vm, fleet.named(ADA, vm.vm().id().text()));
        assertSame(vm, fleet.named(ADA, "web"));
        assertAbsent(BOB, vm.vm().id().text());
        assertAbsent(BOB, "web");
    }

    @Test
    void theSameSlugNamesAnotherVmInEachAccount() {
        var ofAda = add(ADA, "web", Map.of());
        var ofBob = add(BOB, "web", Map.of());
        assertSame(ofAda, fleet.named(ADA, "web"));
        assertSame(ofBob, fleet.named(BOB, "web"));
    }

    @Test
    void anotherAccountsVmAndOneThatNeverWasAreToldInTheSameWords() {
        var vm = add(ADA, "web", Map.of()).vm().id().text();
        var never = VmId.random().text();
        assertEquals(message(BOB, never).replace(never, "X"), message(BOB, vm).replace(vm, "X"));
    }

    @Test
    void whatIsNoNameIsAbsentAndItsMessageIsShortAndPrintable() {
        add(ADA, "web", Map.of());
        for (var name :
                List.of("", "WEB", "web ", "../web", "\u0000\u001b[31m", "x".repeat(9999))) {
            assertAbsent(ADA, name);
            assertTrue(message(ADA, name).length() < 100, message(ADA, name));
            assertFalse(message(ADA, name).chars().anyMatch(Character::isISOControl));
        }
    }

    @Test
    void everyAccountSeesExactlyItsOwnVms() {
        var accounts = List.of(ADA, BOB, AccountId.random());
        var model = new HashMap<VmId, VmLife>();
        for (int n = 0; n < 300; n++) {
            if (random.nextInt(3) > 0 || model.isEmpty()) {
                var life = add(any.of(accounts.get(random.nextInt(accounts.size()))));
                model.put(life.vm().id(), life);
            } else {
                var gone = model.keySet().iterator().next();
                model.remove(gone);
                fleet.remove(gone);
                assertEquals(Optional.empty(), fleet.find(gone));
            }
            for (var account : accounts) {
                assertEquals(ids(model, account), idsOf(account));
            }
        }
        assertEquals(Set.copyOf(model.values()), Set.copyOf(fleet.all()));
    }

    private static Set<VmId> ids(Map<VmId, VmLife> model, AccountId account) {
        return model.values().stream()
                .map(VmLife::vm)
                .filter(vm -> vm.account().equals(account))
                .map(Vm::id)
                .collect(Collectors.toSet());
    }

    private Set<VmId> idsOf(AccountId account) {
        return fleet.of(account).map(Vm::id).collect(Collectors.toSet());
    }

    @Test
    void aVmIsRefusedBesideOneOfItsAccountThatItsPlacementForbids() {
        var vm = apartFrom(Map.of("app", "web"));
        assertDoesNotThrow(() -> fleet.requirePlace(vm));
        add(BOB, "of-another", Map.of("app", "web"));
        add(ADA, "other", Map.of("app", "db"));
        add(vm); // itself
        assertDoesNotThrow(() -> fleet.requirePlace(vm));

        var other = add(ADA, "same", Map.of("app", "web", "tier", "1")).vm();
        var refused = assertThrows(Failure.class, () -> fleet.requirePlace(vm));
        assertEquals(Code.CONFLICT, refused.code());
        assertTrue(refused.getMessage().contains(other.id().text()), refused.getMessage());
        fleet.remove(other.id());
        assertDoesNotThrow(() -> fleet.requirePlace(vm));
    }

    @Test
    void aStoppedVmIsOnNoHostAndForbidsNothing() {
        var stopped = new VmState.Stopped(Instant.EPOCH, Optional.empty());
        add(with(any.of(ADA, stopped), "stopped", Map.of("app", "web")));
        assertDoesNotThrow(() -> fleet.requirePlace(apartFrom(Map.of("app", "web"))));
    }

    private Vm apartFrom(Map<String, String> labels) {
        var vm = with(any.of(ADA, running()), "apart", labels);
        return new Vm(
                vm.id(),
                vm.account(),
                vm.state(),
                vm.settings(),
                vm.hardware(),
                new Vm.Origin(
                        SnapshotId.random(), Optional.empty(), new Placement(List.of(labels))),
                vm.totalRun(),
                vm.createdAt(),
                vm.updatedAt());
    }

    private VmLife add(AccountId account, String slug, Map<String, String> labels) {
        return add(with(any.of(account, running()), slug, labels));
    }

    private VmLife add(Vm vm) {
        var life = new VmLife(context, vm);
        fleet.add(life);
        return life;
    }

    private static Vm with(Vm vm, String slug, Map<String, String> labels) {
        var settings =
                new Vm.Settings(
                        Optional.of(new Slug(slug)), Optional.empty(), Timers.NONE, false, labels);
        return vm.with(settings, vm.updatedAt());
    }

    private static VmState running() {
        return new VmState.Running(
                Instant.EPOCH,
                java.util.UUID.randomUUID(),
                new coppice.process.ProcessId(1L << 30, 1));
    }

    private void assertAbsent(AccountId account, String name) {
        var failure = assertThrows(Failure.class, () -> fleet.named(account, name));
        assertEquals(Code.NOT_FOUND, failure.code());
    }

    private String message(AccountId account, String name) {
        return assertThrows(Failure.class, () -> fleet.named(account, name)).getMessage();
    }
}
