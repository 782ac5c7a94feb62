package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
import coppice.node.Capacity;
import coppice.node.Node;
import coppice.process.ControlGroup;
import coppice.process.ProcessId;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// VMs whose machines were lost with their host, and cannot be started here: every try fails. The clock is the test's.
class RestartsTest {
    private static final String INSTANCE = "restarts-test";
    private static final Instant LOST = Instant.parse("2026-03-01T09:30:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final NewSnapshot SNAPSHOT =
            new NewSnapshot(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    private static final VmFilter ALL =
            new VmFilter(Optional.empty(), Optional.empty(), Optional.empty(), Map.of());
    private static final Resources SMALLEST = new Resources(1, Size.ofMib(64), Size.ofMib(1));
    private static final Size SMALL = Size.ofMib(1);

    @TempDir private Path directory;
    private final AnyVm any = new AnyVm(Seed.random(RestartsTest.class));
    private final AtomicReference<Instant> now = new AtomicReference<>(LOST);
    private final Reflink reflink = new Reflink();
    private Store store;
    private Accounts accounts;
    private AccountId ada;
    private Vms vms;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        accounts = new Accounts(store, Clock.systemUTC());
        ada = accounts.create(new Slug("ada"), "Ada").id();
    }

    @AfterEach
    void close() {
        if (vms != null) {
            vms.close();
        }
        store.close();
        reflink.close();
        ControlGroup.forget(INSTANCE);
    }

    private void startServer() {
        if (vms != null) {
            vms.close();
        }
        vms =
                Vms.open(
                        new Vms.Host(
                                directory,
                                reflink,
                                new QemuLauncher(new Hypervisor("tcg", "10.0.2", "max"), INSTANCE),
                                new Node(new Capacity(1, SMALL, SMALL, 1, 70_000), () -> SMALL),
                                new Networks(store, NetworkLimits.USUAL, InstantSource.system()),
                                Wiring.NONE),
                        store,
                        accounts,
                        new Snapshots.Catalogue(accounts.platform(), new Slug("debian"), Map.of()),
                        new VmLimits(
                                PATIENCE,
                                PATIENCE,
                                PATIENCE,
                                Optional.empty(),
                                Optional.empty(),
                                Optional.empty(),
                                PoolLimits.NONE),
                        now::get);
    }

    @Test
    void aLostVmIsTriedAgainAfterOneTwoFourAndEightSecondsAndThenGivenUp() {
        var vm = lost(true, Timers.NONE);
        startServer();
        var tries = new ArrayList<Long>();
        var state = state(vm);
        for (int second = 0; second < 60; second++) {
            if (second == 9) {
                startServer(); // the wait goes on where it was
            }
            look(vm);
            if (!state(vm).equals(state)) {
                tries.add(Duration.between(LOST, now.get()).toSeconds());
                state = state(vm);
            }
            now.updateAndGet(time -> time.plusSeconds(1));
        }
        assertEquals(List.of(1L, 3L, 7L, 15L), tries);
        var stopped = assertInstanceOf(VmState.Stopped.class, state);
        assertTrue(stopped.why().orElseThrow().contains("too often"), stopped::toString);
        assertEquals(Failures.NONE, vms.get(ada, vm.text()).history().failures());
    }

    @Test
    void whileItWaitsItIsStartingAndNeitherStoppedNorPaused() {
        var vm = lost(true, Timers.NONE);
        startServer();
        assertEquals("starting", state(vm).word());
        assertConflict(() -> vms.stop(ada, vm.text()));
        assertConflict(() -> vms.pause(ada, vm.text()));
        assertConflict(() -> vms.snapshot(ada, vm.text(), SNAPSHOT));
        assertEquals(1, vms.list(ada, ALL, 0, 10).counts().get("starting"));
    }

    @Test
    void aKillEndsTheWaitAndADeleteToo() {
        var killed = lost(true, Timers.NONE);
        var deleted = lost(true, Timers.NONE);
        startServer();
        assertInstanceOf(VmState.Stopped.class, vms.kill(ada, killed.text()).state());
        vms.delete(ada, deleted.text());
        now.updateAndGet(time -> time.plusSeconds(100));
        look(killed);
        assertInstanceOf(VmState.Stopped.class, state(killed));
        assertGone(deleted);
    }

    @Test
    void aStartThatFailsLeavesTheWaitAsItWas() {
        var vm = lost(true, Timers.NONE);
        startServer();
        var waiting = state(vm);
        assertThrows(RuntimeException.class, () -> vms.start(ada, vm.text()));
        assertEquals(waiting, state(vm));
    }

    @Test
    void withoutAutomaticRestartOrWithoutBudgetALostVmIsStopped() {
        var declined = lost(false, Timers.NONE);
        var spent = lost(true, timers(Optional.empty(), Optional.of(Duration.ofSeconds(1))));
        startServer();
        assertInstanceOf(VmState.Stopped.class, state(declined));
        assertInstanceOf(VmState.Stopped.class, state(spent));
        var changed = lost(true, Timers.NONE);
        startServer();
        vms.update(ada, changed.text(), RestartsTest::declining, false);
        assertInstanceOf(VmState.Restarting.class, state(changed), "that stops nothing");
        now.updateAndGet(time -> time.plusSeconds(1));
        look(changed);
        assertInstanceOf(VmState.Stopped.class, state(changed), "but it is the last try");
    }

    @Test
    void aVmAtRestIsDeletedWhenItsTimeIsOverAndNotBefore() {
        var timers = timers(Optional.of(Duration.ofSeconds(30)), Optional.empty());
        var vm = insert(new VmState.Stopped(LOST, Optional.empty()), false, timers);
        now.set(LOST.plusSeconds(29));
        startServer();
        look(vm);
        assertInstanceOf(VmState.Stopped.class, state(vm));
        now.set(LOST.plusSeconds(30));
        vms.keepTime();
        assertGone(vm);
        assertEquals(List.of(), new VmRecords(store).all());
    }

    @Test
    void oneThatIsToGoWhenItRestsGoesAtOnceIfItRestsAlready() {
        var vm = insert(new VmState.Stopped(LOST, Optional.empty()), false, Timers.NONE);
        startServer();
        var zero = timers(Optional.of(Duration.ZERO), Optional.empty());
        vms.update(ada, vm.text(), before -> GivenVms.with(before, zero), false);
        assertGone(vm); // without anybody having looked at the time
    }

    /// Has the VM's loop look at the time, and waits for it.
    private void look(VmId vm) {
        vms.keepTime();
        vms.update(ada, vm.text(), before -> before, false);
    }

    private VmState state(VmId vm) {
        return vms.get(ada, vm.text()).state();
    }

    private void assertGone(VmId vm) {
        var failure =
                assertThrows(
                        Failure.class, () -> vms.update(ada, vm.text(), before -> before, false));
        assertEquals(Code.NOT_FOUND, failure.code());
    }

    private static void assertConflict(org.junit.jupiter.api.function.Executable call) {
        assertEquals(Code.CONFLICT, assertThrows(Failure.class, call).code());
    }

    /// A VM that the store says runs, in a process that there is not any more.
    private VmId lost(boolean restarts, Timers timers) {
        var process = new ProcessId(1L << 30, 1);
        return insert(
                new VmState.Running(LOST.minusSeconds(60), UUID.randomUUID(), process),
                restarts,
                timers);
    }

    private VmId insert(VmState state, boolean restarts, Timers timers) {
        var settings =
                new Vm.Settings(Optional.empty(), Optional.empty(), timers, restarts, Map.of());
        var vm =
                new Vm(
                        VmId.random(),
                        ada,
                        state,
                        settings,
                        any.hardware().with(SMALLEST),
                        new Vm.Origin(SnapshotId.random(), Optional.empty(), Placement.ANYWHERE),
                        Duration.ZERO,
                        LOST,
                        LOST);
        new VmRecords(store).insert(vm, false, _ -> {});
        try {
            Files.createDirectories(directory.resolve("vms").resolve(vm.id().text()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return vm.id();
    }

    private static Timers timers(Optional<Duration> autoDelete, Optional<Duration> maxRunTotal) {
        return new Timers(
                Optional.empty(), autoDelete, Optional.empty(), Optional.empty(), maxRunTotal);
    }

    private static Vm.Settings declining(Vm.Settings settings) {
        return new Vm.Settings(
                settings.slug(),
                settings.displayName(),
                settings.timers(),
                false,
                settings.metadata());
    }
}
