package coppice.node;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class NodeTest {
    private static final Size NONE = new Size(0);
    private static final int FIRST_USER = 70_000;

    private final AtomicLong freeDisk = new AtomicLong();

    @Test
    void promisesNeverExceedWhatTheHostMayPromise() throws Exception {
        var node = node(NONE, 2);
        long limit = limit();
        var promised = new AtomicLong();
        var random = Seed.random(NodeTest.class);
        var refusals = new AtomicInteger();
        atOnce(
                8,
                i -> {
                    var mine = new Random(random.nextLong());
                    for (int n = 0; n < 200; n++) {
                        refusals.addAndGet(live(node, "vm-" + i, mine, promised, limit));
                    }
                });
        assertTrue(refusals.get() > 0, "nothing was ever refused");
        node.promiseMemory("all", new Size(limit)); // everything was given back
    }

    /// Promises, grows and releases; what was acknowledged counts from after its promise until before its release.
    private static int live(Node node, String vm, Random random, AtomicLong promised, long limit) {
        long mine = 0;
        try {
            for (int step = 0; step < 3; step++) {
                long more = mine + random.nextLong(1, limit / 2);
                node.promiseMemory(vm, new Size(more));
                long all = promised.addAndGet(more - mine);
                mine = more;
                Thread.yield();
                assertTrue(all <= limit, all + " of " + limit + " promised");
            }
            return 0;
        } catch (Failure e) {
            assertEquals(Code.CONFLICT, e.code());
            assertTrue(e.getMessage().startsWith("no capacity"), e.getMessage());
            return 1;
        } finally {
            promised.addAndGet(-mine);
            node.releaseMemory(vm);
        }
    }

    @Test
    void theLastByteCanBePromisedAndNotOneMore() throws IOException {
        var node = node(NONE, 2);
        node.promiseMemory("vm-1", new Size(limit() - 10));
        refused(Code.CONFLICT, () -> node.promiseMemory("vm-2", new Size(11)));
        node.promiseMemory("vm-2", new Size(10));
        refused(Code.CONFLICT, () -> node.promiseMemory("vm-2", new Size(11)));
        node.promiseMemory("vm-2", new Size(10)); // what a VM has it may be promised again
        node.releaseMemory("vm-1");
        node.promiseMemory("vm-2", new Size(limit()));
    }

    @Test
    void memoryOfVmsThatAServerFindsRunningCounts() throws IOException {
        var node = node(NONE, 2);
        node.keepMemory("vm-1", new Size(limit() * 2));
        refused(Code.CONFLICT, () -> node.promiseMemory("vm-2", new Size(1)));
        node.releaseMemory("vm-1");
        node.promiseMemory("vm-2", new Size(1));
    }

    @Test
    void aHostThatIsShortOfMemoryStartsNoMoreVmsAndLetsThoseThatRunGrow() throws IOException {
        var node = node(new Size(Long.MAX_VALUE), 2);
        refused(Code.CONFLICT, () -> node.promiseMemory("vm-1", new Size(1)));
        node.keepMemory("vm-1", new Size(1));
        node.promiseMemory("vm-1", new Size(2));
    }

    @Test
    void whatIsHeldForNobodyIsGivenUpForAVmButNotForMoreOfItsKind() throws IOException {
        var node = node(NONE, 2);
        node.promiseSpareMemory("ready", new Size(limit()));
        var given = new AtomicInteger();
        node.relieveBy(
                () -> {
                    node.releaseMemory("ready");
                    return given.incrementAndGet() == 1;
                });

        refused(Code.CONFLICT, () -> node.promiseSpareMemory("other", new Size(1)));
        assertEquals(0, given.get());
        node.promiseMemory("vm-1", new Size(limit()));
        assertEquals(1, given.get());
        refused(Code.CONFLICT, () -> node.promiseMemory("vm-2", new Size(1)));
    }

    @Test
    void aTurnOfAnIdleHostIsGivenOnlyWhileNothingStarts() {
        var node = node(NONE, 2);
        try (var _ = node.awaitTurn(Deadline.in(Duration.ofSeconds(1)))) {
            assertTrue(node.idleTurn().isEmpty());
        }
        try (var _ = node.idleTurn().orElseThrow()) {
            node.awaitTurn(Deadline.in(Duration.ofSeconds(1))).close();
        }
        assertTrue(node.idleTurn().isPresent());
    }

    @Test
    void theDiskReserveIsNeverTouched() {
        var node = node(NONE, 2);
        freeDisk.set(Size.ofMib(300).bytes());
        node.takeRoom(Size.ofMib(200)).close();
        refused(Code.CONFLICT, () -> node.takeRoom(new Size(Size.ofMib(200).bytes() + 1)));
        freeDisk.set(Size.ofMib(100).bytes() - 1);
        refused(Code.CONFLICT, () -> node.takeRoom(NONE));
    }

    @Test
    void roomThatOthersHaveTakenIsNotGivenTwice() {
        var node = node(NONE, 2);
        freeDisk.set(Size.ofMib(300).bytes());
        try (var _ = node.takeRoom(Size.ofMib(150))) {
            refused(Code.CONFLICT, () -> node.takeRoom(Size.ofMib(51)));
            node.takeRoom(Size.ofMib(50)).close();
        }
        node.takeRoom(Size.ofMib(200)).close();
    }

    @Test
    void noTwoVmsHaveOneUser() throws Exception {
        var node = node(NONE, 2);
        node.keepUser(FIRST_USER + 3);
        var held = Collections.synchronizedSet(new HashSet<Integer>());
        var random = Seed.random(NodeTest.class);
        atOnce(
                8,
                _ -> {
                    var mine = new Random(random.nextLong());
                    for (int n = 0; n < 300; n++) {
                        int user = node.takeUser();
                        assertTrue(held.add(user), user + " was given out twice");
                        assertTrue(user >= FIRST_USER && user != FIRST_USER + 3, "user " + user);
                        if (mine.nextBoolean()) {
                            held.remove(user);
                            node.releaseUser(user);
                        }
                    }
                });
    }

    @Test
    void usersComeToAnEndAndAReleasedOneIsGivenAgain() {
        var node = node(NONE, 2);
        IntStream.range(0, 60_000).forEach(i -> node.keepUser(FIRST_USER + i));
        refused(Code.CONFLICT, node::takeUser);
        node.releaseUser(FIRST_USER + 12_345);
        assertEquals(FIRST_USER + 12_345, node.takeUser());
        refused(Code.CONFLICT, node::takeUser);
    }

    @Test
    void noMoreVmsStartAtOnceThanMay() throws Exception {
        var node = node(NONE, 3);
        var starting = new AtomicInteger();
        atOnce(
                12,
                _ -> {
                    for (int n = 0; n < 50; n++) {
                        try (var _ = node.awaitTurn(soon())) {
                            assertTrue(starting.incrementAndGet() <= 3, "too many start");
                            Thread.yield();
                            starting.decrementAndGet();
                        }
                    }
                });
    }

    @Test
    void whoWaitsForATurnWaitsUntilTheDeadlineOnly() {
        var node = node(NONE, 1);
        try (var _ = node.awaitTurn(soon())) {
            var late = Deadline.in(Duration.ofMillis(20));
            refused(Code.VM_START_TIMEOUT, () -> node.awaitTurn(late));
            assertTrue(late.isPast());
        }
        assertDoesNotThrow(() -> node.awaitTurn(soon()).close());
    }

    @Test
    void whoIsInterruptedWhileItWaitsTakesNoTurn() {
        var node = node(NONE, 1);
        Thread.currentThread().interrupt();
        refused(Code.UNAVAILABLE, () -> node.awaitTurn(soon()));
        assertTrue(Thread.interrupted(), "the interrupt was swallowed");
        node.awaitTurn(soon()).close();
    }

    private interface Work {
        void run(int thread);
    }

    private static void atOnce(int threads, Work work) throws Exception {
        try (var all = Executors.newVirtualThreadPerTaskExecutor()) {
            var tasks =
                    IntStream.range(0, threads)
                            .mapToObj(
                                    i ->
                                            (Callable<Boolean>)
                                                    () -> {
                                                        work.run(i);
                                                        return true;
                                                    })
                            .toList();
            for (var task : all.invokeAll(tasks)) {
                assertTrue(task.get());
            }
        }
    }

    private static void refused(Code code, Executable executable) {
        assertEquals(code, assertThrows(Failure.class, executable).code());
    }

    /// The host's memory may be promised one and a half times.
    private Node node(Size memoryReserve, int startsAtOnce) {
        var capacity = new Capacity(1.5, memoryReserve, Size.ofMib(100), startsAtOnce, FIRST_USER);
        return new Node(capacity, () -> new Size(freeDisk.get()));
    }

    private static long limit() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/meminfo"));
        var total = lines.getFirst();
        assertTrue(total.startsWith("MemTotal:"), total);
        return (long) (Long.parseLong(total.replaceAll("\\D", "")) * 1024 * 1.5);
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(20));
    }
}
