package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.Wait;
import coppice.process.ControlGroup;
import coppice.process.ProcessId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// VMs that nobody tends: they sleep when they are not used, wake when they are, come back when they fail and go when their time is over.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LifeIT {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration BOOT = Duration.ofSeconds(90);

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @Test
    void aVmSleepsWhenItIsSilentNotWhileACommandRunsAndTheNextCommandWakesIt() {
        var vm = create("\"idleTimeoutSeconds\":1");
        client.run(vm, "echo kept > /dev/shm/kept");
        var running = process(vm);

        assertEquals("4", client.run(vm, "sleep 4; echo 4"));
        assertEquals(running, process(vm), "it was paused under a command");
        var used = client.get("/v5/vms/" + vm).expect(200).requiredString("lastNetworkActivity");

        await(SOON, "sleeps", () -> client.state(vm).equals("paused"));
        assertEquals(
                used,
                client.get("/v5/vms/" + vm).expect(200).requiredString("lastNetworkActivity"));
        assertEquals("kept", client.run(vm, "cat /dev/shm/kept"));
        assertNotEquals(running, process(vm));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void fiftyCommandsAtOnceWakeAVmThatIsJustBeingPausedOnceAndAllAreServed() throws Exception {
        var vm = client.createVm();
        client.run(vm, "head -c 40m /dev/zero | tr '\\0' x > /dev/shm/much");
        var paused = process(vm);
        var processes = new HashSet<ProcessId>();
        var isOver = new AtomicBoolean();
        var pause = Thread.startVirtualThread(() -> post(vm, "pause").expect(200));
        await(SOON, "pauses", () -> !client.state(vm).equals("running"));
        var watch =
                Thread.startVirtualThread(
                        () -> {
                            while (!isOver.get()) {
                                processes.addAll(processes(vm));
                                Wait.moment();
                            }
                        });

        var answers = AtOnce.call(50, i -> exec(vm, "echo answer " + i));

        isOver.set(true);
        watch.join();
        pause.join();
        for (int i = 0; i < answers.size(); i++) {
            assertEquals(
                    "answer %d\n".formatted(i),
                    answers.get(i).expect(200).requiredString("stdout"));
        }
        processes.remove(paused);
        assertEquals(Set.of(process(vm)), processes, "it was resumed once");
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void whateverIsAskedOfAVmInAnyOrderEveryCommandIsServed() throws Exception {
        var random = Seed.random(LifeIT.class);
        var vm = create("\"idleTimeoutSeconds\":1");
        var isOver = new AtomicBoolean();
        // Whoever pauses a VM under a command means it: somebody has to start it again.
        var starter =
                Thread.startVirtualThread(
                        () -> {
                            while (!isOver.get()) {
                                post(vm, "start").expect(200);
                            }
                        });
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = new ArrayList<Future<Boolean>>();
            for (int n = 0; n < 6; n++) {
                var own = new Random(random.nextLong());
                calls.add(callers.submit(caller(vm, own)));
            }
            for (var call : calls) {
                assertTrue(call.get());
            }
        } finally {
            isOver.set(true);
            starter.join();
        }
        await(SOON, "sleeps in the end", () -> client.state(vm).equals("paused"));
        client.delete("/v5/vms/" + vm).expect(204);
    }

    private Callable<Boolean> caller(String vm, Random random) {
        return () -> {
            for (int step = 0; step < 12; step++) {
                if (random.nextInt(4) == 0) {
                    var answer = post(vm, "pause");
                    assertTrue(List.of(200, 409).contains(answer.status()), answer::message);
                } else {
                    var word = Long.toHexString(random.nextLong());
                    var command = "sleep 0.%d; echo %s".formatted(random.nextInt(4), word);
                    assertEquals(
                            word, exec(vm, command).expect(200).requiredString("stdout").strip());
                }
            }
            return true;
        };
    }

    @Test
    void aVmWhoseTimeIsOverGoes() {
        var ephemeral = create("\"autoDeleteSeconds\":0");
        assertEquals("paused", post(ephemeral, "pause").expect(200).requiredString("state"));
        await(SOON, "goes when it rests", () -> isGone(ephemeral));

        var mortal = create("\"ttlSeconds\":2");
        var busy = create("\"maxRunSeconds\":2");
        var spent = create("\"maxRunTotalSeconds\":2");
        installation.killServer();
        installation.startServer();
        await(SOON, "goes after its ttl", () -> isGone(mortal));
        await(SOON, "has run enough", () -> client.state(busy).equals("paused"));
        await(SOON, "has spent its budget", () -> client.state(spent).equals("paused"));

        exec(spent, "true").expect(409, "CONFLICT");
        client.patch("/v5/vms/" + spent, "{\"maxRunTotalSeconds\":-1}").expect(200);
        assertEquals("again", client.run(spent, "echo again"));
        assertEquals("again", client.run(busy, "echo again"));
        client.patch("/v5/vms/" + busy, "{\"ttlSeconds\":1}").expect(200);
        await(SOON, "goes when its ttl is lowered", () -> isGone(busy));
        client.delete("/v5/vms/" + spent).expect(204);
    }

    @Test
    void aVmThatFailsComesBackAfterAWaitThatGrowsUnlessSomebodyStoppedIt() {
        var vm = client.createVm();
        var boot = client.run(vm, "echo kept > /root/kept; sync; " + BOOT_ID);

        var first = failAndComeBack(vm, "echo c > /proc/sysrq-trigger");
        assertNotEquals(boot, client.run(vm, BOOT_ID));
        assertEquals("kept", client.run(vm, "cat /root/kept"));
        var process = process(vm);
        killQemu(vm);
        var second = waitOfRestart(vm);
        assertNotEquals(process, process(vm));
        assertTrue(
                first.compareTo(Duration.ofMillis(900)) > 0
                        && second.compareTo(Duration.ofMillis(1900)) > 0,
                "it waited %s, then %s".formatted(first, second));

        killQemu(vm);
        await(SOON, "starts again", () -> client.state(vm).equals("starting"));
        post(vm, "stop").expect(409, "CONFLICT");
        post(vm, "pause").expect(409, "CONFLICT");
        assertEquals("stopped", post(vm, "kill").expect(200).requiredString("state"));
        assertStaysStopped(vm);

        client.patch("/v5/vms/" + vm, "{\"automaticRestart\":false}").expect(200);
        client.run(vm, "true");
        fail(vm, "echo c > /proc/sysrq-trigger");
        await(SOON, "stays down", () -> client.state(vm).equals("stopped"));
        assertStaysStopped(vm);
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void howAGuestEndedIsKnownEvenWhenTheServerWasAway() {
        var off = client.createVm();
        var panicked = client.createVm();
        var killed = client.createVm();
        var boot = client.run(off, BOOT_ID); // that of the image, which all of them went on from
        fail(off, "(sleep 1; poweroff -f) >/dev/null 2>&1 &");
        fail(panicked, "(sleep 1; echo c > /proc/sysrq-trigger) >/dev/null 2>&1 &");
        installation.killServer();
        processes(killed).forEach(process -> process.kill());
        Wait.through(
                Duration.ofSeconds(3), () -> {}); // the guests end meanwhile; nothing tells when
        installation.startServer();

        assertEquals("stopped", client.state(off));
        for (var vm : List.of(panicked, killed)) {
            // A command waits for the restart as for any start.
            assertNotEquals(boot, client.run(vm, BOOT_ID), installation::logTail);
        }
        assertStaysStopped(off);
        var powersOff = client.createVm();
        fail(powersOff, "poweroff -f");
        await(SOON, "is off", () -> client.state(powersOff).equals("stopped"));
        assertStaysStopped(powersOff);
    }

    private static final String BOOT_ID = "cat /proc/sys/kernel/random/boot_id";

    private String create(String timer) {
        return client.createVm("{\"firewall\":{\"rules\":[]},%s}".formatted(timer));
    }

    private Client.Answer post(String vm, String verb) {
        return client.post("/v5/vms/%s/%s".formatted(vm, verb), "{}");
    }

    private Client.Answer exec(String vm, String command) {
        return client.post("/v5/vms/%s/exec-await".formatted(vm), Client.exec(command));
    }

    /// A command that its VM may not survive.
    private void fail(String vm, String command) {
        var answer = exec(vm, command);
        assertTrue(List.of(200, 503).contains(answer.status()), answer::message);
    }

    private Duration failAndComeBack(String vm, String command) {
        fail(vm, command);
        return waitOfRestart(vm);
    }

    /// Waits until the VM is back, and tells how long it had no process.
    private Duration waitOfRestart(String vm) {
        await(SOON, "ends", () -> client.state(vm).equals("starting"));
        long since = System.nanoTime();
        await(BOOT, "has a process again", () -> !processes(vm).isEmpty());
        var wait = Duration.ofNanos(System.nanoTime() - since);
        await(BOOT, "comes back", () -> client.state(vm).equals("running"));
        return wait;
    }

    private void assertStaysStopped(String vm) {
        Wait.through(Duration.ofSeconds(3), () -> assertEquals("stopped", client.state(vm)));
    }

    private boolean isGone(String vm) {
        return client.get("/v5/vms/" + vm).status() == 404;
    }

    private void killQemu(String vm) {
        process(vm).kill();
    }

    private ProcessId process(String vm) {
        return processes(vm).getFirst();
    }

    private List<ProcessId> processes(String vm) {
        return ControlGroup.of(DataLock.instance(installation.data()), vm).processes();
    }

    private void await(Duration patience, String what, BooleanSupplier isSo) {
        Wait.until(
                patience, isSo, () -> "it never %s:\n%s".formatted(what, installation.logTail()));
    }
}
