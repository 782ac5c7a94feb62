package coppice.main;

import coppice.Wait;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// What befalls those who use VMs: the server is killed and started again, and VMs are paused. Whoever is cut off asks here whether that
/// can have been why. From any thread.
final class Weather {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// `-Dcoppice.inside.calm=N`: at least so many seconds between two. A commit that is cut off begins anew, and one of gigabytes takes
    /// minutes.
    private static final int CALM = 1000 * Integer.getInteger("coppice.inside.calm", 0);

    private final Installation installation;
    private final Client client;
    private final List<String> vms;
    private final Random random;
    private final ChosenExecs chosen;
    private final Story story;

    /// Counted at the beginning and at the end of each: odd as long as it goes on.
    private final AtomicLong kills = new AtomicLong();

    private final Map<String, AtomicLong> pauses = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> said = new ConcurrentHashMap<>();
    private final Map<String, ReentrantReadWriteLock> calm = new ConcurrentHashMap<>();

    /// A moment in the life of a VM.
    record Mark(String vm, long kills, long pauses) {}

    Weather(
            Installation installation,
            Client client,
            List<String> vms,
            Random random,
            Story story) {
        this.installation = installation;
        this.client = client;
        this.vms = vms;
        this.random = random;
        this.story = story;
        this.chosen = new ChosenExecs(installation, random, story);
        for (var vm : vms) {
            pauses.put(vm, new AtomicLong());
            said.put(vm, new AtomicLong());
            calm.put(vm, new ReentrantReadWriteLock());
        }
    }

    Mark mark(String vm) {
        return new Mark(vm, kills.get(), pauses.get(vm).get());
    }

    /// Whether the server was killed since then, or was just being killed.
    boolean wasKilled(Mark since) {
        return since.kills() % 2 == 1 || kills.get() != since.kills();
    }

    /// Whether connections into the VM were cut since then.
    boolean wasCut(Mark since) {
        return wasKilled(since)
                || since.pauses() % 2 == 1
                || pauses.get(since.vm()).get() != since.pauses();
    }

    /// How many pauses the VM has seen since then.
    int pausesSince(Mark since) {
        return (int) ((pauses.get(since.vm()).get() + 1) / 2 - since.pauses() / 2);
    }

    /// Commands of the VM have said so much: what their guest keeps of the earlier ones makes room for it.
    void said(String vm, long bytes) {
        said.get(vm).addAndGet(bytes);
    }

    /// Does what would be in doubt if the VM were paused or the server killed meanwhile: both wait for it.
    <T> T calmly(String vm, Supplier<T> act) {
        var lock = calm.get(vm).readLock();
        lock.lock();
        try {
            return act.get();
        } finally {
            lock.unlock();
        }
    }

    /// What came of it; empty if it failed and the server was killed meanwhile. A pause excuses nothing.
    <T> Optional<T> unlessKilled(String vm, Supplier<T> act) {
        var mark = mark(vm);
        try {
            return Optional.of(act.get());
        } catch (RuntimeException | AssertionError e) {
            if (!wasKilled(mark)) {
                throw e;
            }
            awaitServer();
            return Optional.empty();
        }
    }

    void awaitServer() {
        Wait.until(PATIENCE, () -> kills.get() % 2 == 0, () -> "the server does not come back");
    }

    /// Goes on as long as it is wanted.
    void blow(BooleanSupplier isWanted) {
        for (int round = 1; isWanted.getAsBoolean(); round++) {
            rest(CALM + 100 + random.nextInt(1200), isWanted);
            var vm = vms.get(random.nextInt(vms.size()));
            if (round % 6 == 2) {
                kill(random.nextBoolean() ? () -> {} : () -> begin(vm, "pause"));
            } else {
                pause(vm);
            }
        }
    }

    private static void rest(int millis, BooleanSupplier isWanted) {
        var until = System.nanoTime() + millis * 1_000_000L;
        while (isWanted.getAsBoolean() && System.nanoTime() < until) {
            Wait.moment();
        }
    }

    /// Pauses the VM, and sees to it that it does not stay so.
    private void pause(String vm) {
        story.tell("pause " + vm);
        var lock = calm.get(vm).writeLock();
        lock.lock();
        try {
            pauses.get(vm).incrementAndGet();
            var answer = client.post("/v5/vms/%s/pause".formatted(vm), "{}");
            // One that somebody has woken meanwhile is just starting.
            if (answer.status() != 409) {
                answer.expect(200);
            }
            pauses.get(vm).incrementAndGet();
        } finally {
            lock.unlock();
        }
        if (random.nextBoolean()) {
            rest(random.nextInt(300), () -> true);
        }
        client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        story.tell(vm + " goes on");
    }

    /// Kills the server in the middle of an act and whatever else it does, and starts it again.
    private void kill(Runnable act) {
        vms.forEach(vm -> calm.get(vm).writeLock().lock());
        try {
            kills.incrementAndGet();
            act.run();
            rest(random.nextInt(200), () -> true);
            story.tell("kill the server");
            installation.killServer();
            chosen.goOn(vms, vm -> said.get(vm).get());
            installation.startServer();
            story.tell("the server is back");
        } finally {
            kills.incrementAndGet();
            vms.forEach(vm -> calm.get(vm).writeLock().unlock());
        }
        for (var vm : vms) {
            client.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200);
        }
    }

    private void begin(String vm, String verb) {
        story.tell(verb + " " + vm + ", and in the middle of it");
        Thread.startVirtualThread(
                () ->
                        client.abandon(
                                "POST",
                                "/v5/vms/%s/%s".formatted(vm, verb),
                                new byte[] {'{', '}'},
                                PATIENCE));
    }
}
