package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.api.v5.TerminalPeer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Guests whose users have taken the agent's port over. Each costs its own calls and nothing else.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileGuestIT {
    private static final Duration START = Duration.ofSeconds(32);

    /// A call that meets garbage needs no deadline of its own.
    private static final Duration SOON = Duration.ofSeconds(12);

    /// How long a call to a guest that says nothing goes on after the guest was killed.
    private static final Duration AT_ONCE = Duration.ofSeconds(5);

    /// The agent has ended by then, and what is there in its place has begun.
    private static final Duration TAKING_OVER = Duration.ofSeconds(3);

    private static final int MAX_LOG = 256 << 10;

    @AutoClose private Installation installation;
    private Client client;
    private String neighbour;

    @BeforeAll
    void start() {
        var start = Long.toString(START.toSeconds());
        installation = Installation.start(Map.of("COPPICE_VM_START_TIMEOUT", start));
        client = installation.client("main");
        neighbour = client.createVm();
    }

    @Test
    void aGuestWhosePortIsTakenOverCostsItsOwnCallsAndNothingElse() throws Exception {
        long log = logSize();
        var isOver = new AtomicBoolean();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var slowest = threads.submit(() -> askNeighbour(isOver));
            var guests = new ArrayList<Future<Boolean>>();
            guests.add(threads.submit(this::comeBack));
            for (var hostility : Hostility.values()) {
                guests.add(threads.submit(() -> suffer(hostility)));
            }
            try {
                for (var guest : guests) {
                    guest.get();
                }
            } finally {
                isOver.set(true);
            }
            System.out.printf(
                    "the neighbour waited %d ms at most, the log grew by %d KiB%n",
                    slowest.get().toMillis(), (logSize() - log) >> 10);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + installation.logTail(), e);
        }
        long grown = logSize() - log;
        assertTrue(grown < MAX_LOG, () -> "the log grew by %d bytes".formatted(grown));
        var vms = client.get("/v5/vms").expect(200).requiredObjects("vms");
        assertEquals(List.of(neighbour), vms.stream().map(vm -> vm.requiredString("id")).toList());
    }

    /// An agent that ends is started anew by its guest, and does its work.
    private boolean comeBack() {
        var vm = client.createVm();
        client.run(vm, Hostility.END_AGENT);
        Wait.through(TAKING_OVER, () -> {});
        var call = System.nanoTime();
        assertEquals("back", client.run(vm, "echo back"));
        System.out.printf("another agent: after %d ms%n", (System.nanoTime() - call) / 1_000_000);
        client.delete("/v5/vms/" + vm).expect(204);
        return true;
    }

    private boolean suffer(Hostility hostility) throws Exception {
        var vm = client.createVm();
        try {
            var path = "/v5/vms/%s/fs/write?path=/usr/sbin/hostile&mode=493".formatted(vm);
            client.send("PUT", path, hostility.script()).expect(204);
            client.run(vm, Hostility.TAKE_OVER);
            Wait.through(TAKING_OVER, () -> {});
            if (hostility.isLoud()) {
                sufferNoise(vm);
            } else {
                sufferSilence(vm);
            }
            client.delete("/v5/vms/" + vm).expect(204);
            return true;
        } catch (Exception | AssertionError e) {
            throw new AssertionError("%s: %s".formatted(hostility, e.getMessage()), e);
        }
    }

    /// Each call is answered soon; the VM is paused, goes on, and is killed as any other.
    private void sufferNoise(String vm) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var call : begin(threads, vm)) {
                System.out.println(call.get(SOON.toSeconds(), TimeUnit.SECONDS));
            }
        }
        client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
        client.post("/v5/vms/%s/start".formatted(vm), "").expect(200);
        requireClear(exec(vm));
        assertEquals("running", client.state(vm));
        client.post("/v5/vms/%s/kill".formatted(vm), "").expect(200);
    }

    /// The VM is paused and goes on as any other, soon enough. Calls wait; they end with the VM.
    private void sufferSilence(String vm) throws Exception {
        soon(vm, "pause");
        soon(vm, "start");
        assertEquals("running", client.state(vm));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = begin(threads, vm);
            Wait.through(Duration.ofSeconds(2), () -> {});
            client.post("/v5/vms/%s/kill".formatted(vm), "").expect(200);
            var command = calls.getFirst().get(AT_ONCE.toSeconds(), TimeUnit.SECONDS);
            assertTrue(command.startsWith("exec: 503 "), command);
            for (var call : calls) {
                System.out.println(call.get(AT_ONCE.toSeconds(), TimeUnit.SECONDS));
            }
        }
        assertEquals("stopped", client.state(vm), "who waited has started it again");
    }

    private void soon(String vm, String change) {
        long begun = System.nanoTime();
        client.post("/v5/vms/%s/%s".formatted(vm, change), "").expect(200);
        var time = Duration.ofNanos(System.nanoTime() - begun);
        assertTrue(
                time.compareTo(START.dividedBy(4).multipliedBy(3)) < 0, change + " took " + time);
    }

    /// One call of each kind. The command takes longer than what is left alone for a moment.
    private List<Future<String>> begin(ExecutorService threads, String vm) {
        var files = "/v5/vms/%s/fs/".formatted(vm);
        var read = files + "read?path=/etc/hostname";
        var write = files + "write?path=/tmp/x";
        return List.of(
                threads.submit(timed("exec", () -> requireClear(exec(vm)))),
                threads.submit(timed("read", () -> requireClear(client.get(read)))),
                threads.submit(
                        timed(
                                "write",
                                () -> requireClear(client.send("PUT", write, new byte[100_000])))),
                threads.submit(timed("terminal", () -> openTerminal(vm))));
    }

    private static Callable<String> timed(String what, Callable<String> call) {
        return () -> {
            long begun = System.nanoTime();
            var came = call.call();
            return "%s: %s after %d ms"
                    .formatted(what, came, (System.nanoTime() - begun) / 1_000_000);
        };
    }

    private Client.Answer exec(String vm) {
        return client.post(
                "/v5/vms/%s/exec-await".formatted(vm),
                "{\"command\":\"sleep 2\",\"timeoutMs\":4000}");
    }

    /// It says why it failed; what is done between two pieces of garbage may as well succeed.
    private static String requireClear(Client.Answer answer) {
        if (answer.status() >= 300) {
            assertTrue(
                    List.of(503, 504).contains(answer.status()),
                    () -> answer.status() + " " + answer.message());
            assertEquals(
                    Optional.of(answer.status() == 503 ? "UNAVAILABLE" : "VM_START_TIMEOUT"),
                    answer.body().string("code"));
            assertTrue(answer.message().length() > 20, answer::message);
        } else if (answer.body().has("statusCode")) {
            assertEquals(0, answer.body().requiredInteger("statusCode"));
        }
        return answer.status() + " " + answer.message();
    }

    private String openTerminal(String vm) {
        try {
            client.terminal(vm, "?exec=cat").cut();
            return "101";
        } catch (TerminalPeer.Refused e) {
            assertTrue(List.of(503, 504).contains(e.status()), e::getMessage);
            return Integer.toString(e.status());
        }
    }

    /// One command after another, each of which is answered right.
    private Duration askNeighbour(AtomicBoolean isOver) {
        long slowest = 0;
        for (int i = 0; !isOver.get(); i++) {
            long begun = System.nanoTime();
            assertEquals("here " + i, client.run(neighbour, "echo here " + i));
            slowest = Math.max(slowest, System.nanoTime() - begun);
            Wait.moment();
        }
        return Duration.ofNanos(slowest);
    }

    private long logSize() throws IOException {
        return Files.size(installation.data().resolve("server.log"));
    }
}
