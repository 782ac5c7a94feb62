package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A hundred callers of one VM, beside a command that says much more than is kept.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CrowdIT {
    private static final int CROWD = 100;
    private static final int MIB = 1 << 20;
    private static final int KEPT = 4 * MIB;
    private static final int MUCH = 500;

    /// What a loaded machine adds to every wait.
    private static final Duration MARGIN = Duration.ofSeconds(2);

    private static final int MORE_MIB = 64;

    /// So many commands that what they say is half of their guest's memory; the agent has a quarter for it, and something for itself.
    private static final int LOUD = 8;

    private static final int MOST_KIB = 44 << 10;

    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
        vm = client.createVm();
        client.run(vm, "yes 0123456 | head -c %d > /dev/shm/words".formatted(KEPT));
    }

    @Test
    void aHundredCommandsBesideOneThatSaysFiveHundredMebibytesAnswerRightAndTheServerStaysSmall()
            throws Exception {
        say(2).call(); // the classes are loaded, the heap has its size
        crowd(CROWD / 4);
        var alone = crowd(CROWD);
        long before = forgetPeak();

        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var much = threads.submit(say(MUCH * MIB / KEPT));
            client.run(vm, "while [ ! -e /dev/shm/begun ]; do usleep 10000; done");
            var beside = crowd(CROWD);
            boolean wasBeside = !much.isDone();
            much.get();
            long peak = mib("VmHWM");
            System.out.printf(
                    "p99 of %d commands: alone %d ms, beside %d MiB%s %d ms (%.2f x); server %d MiB, then %d at most%n",
                    CROWD,
                    alone.toMillis(),
                    MUCH,
                    wasBeside ? "" : " that ended first",
                    beside.toMillis(),
                    (double) beside.toNanos() / alone.toNanos(),
                    before,
                    peak);
            assertTrue(
                    beside.compareTo(alone.multipliedBy(4).plus(MARGIN)) < 0,
                    () -> "%s beside it, %s alone".formatted(beside, alone));
            assertTrue(
                    peak - before <= MORE_MIB,
                    () -> "the server grew from %d to %d MiB".formatted(before, peak));
        }
    }

    /// Of a guest of 128 MiB, as this one is.
    @Test
    void whatIsKeptOfEndedCommandsLeavesASmallGuestItsMemory() {
        var boot = client.run(vm, "cat /proc/sys/kernel/random/boot_id");
        for (int i = 0; i < 9; i++) {
            var both = Client.exec("cat /dev/shm/words; cat /dev/shm/words >&2");
            var result = client.post("/v5/vms/%s/exec-await".formatted(vm), both).expect(200);
            assertEquals(KEPT, result.requiredString("stdout").length());
            assertEquals(KEPT, result.requiredString("stderr").length());
        }
        assertEquals(boot, client.run(vm, "cat /proc/sys/kernel/random/boot_id"));
    }

    @Test
    void whatRunningCommandsHaveSaidLeavesASmallGuestItsMemory() throws Exception {
        client.run(vm, "rm -f /dev/shm/go /dev/shm/said.*");
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var callers = new ArrayList<Future<JsonObject>>();
            for (int i = 0; i < LOUD; i++) {
                callers.add(threads.submit(sayAndStay(i)));
            }
            client.run(
                    vm,
                    "until [ $(ls /dev/shm | grep -c said) = %d ]; do usleep 50000; done"
                            .formatted(LOUD));
            var agent =
                    client.run(
                            vm,
                            "for p in $(pidof coppice-agent); do grep VmRSS /proc/$p/status; done | sort -nk2 | tail -n 1");
            client.run(vm, "touch /dev/shm/go");
            int kept = 0;
            for (var caller : callers) {
                var result = caller.get();
                for (var channel : List.of("stdout", "stderr")) {
                    var said = result.requiredString(channel);
                    assertTrue("0123456\n".repeat(KEPT / 8).startsWith(said));
                    kept += said.length();
                }
            }
            System.out.printf("%d KiB of running commands were kept: %s%n", kept >> 10, agent);
            assertTrue(kept > 8 * MIB && kept < 2 * LOUD * KEPT, kept + " bytes");
            assertTrue(Integer.parseInt(agent.replaceAll("\\D", "")) < MOST_KIB, agent);
        }
    }

    private Callable<JsonObject> sayAndStay(int number) {
        var command =
                """
                cat /dev/shm/words; cat /dev/shm/words >&2; touch /dev/shm/said.%d
                until [ -e /dev/shm/go ]; do usleep 50000; done"""
                        .formatted(number);
        return () ->
                client.post("/v5/vms/%s/exec-await".formatted(vm), Client.exec(command))
                        .expect(200);
    }

    /// Says 4 MiB so many times; the first of them come back.
    private Callable<Boolean> say(int times) {
        return () -> {
            var command =
                    "words=$(yes /dev/shm/words | head -n %d); touch /dev/shm/begun; cat $words; rm /dev/shm/begun"
                            .formatted(times);
            var result =
                    client.post("/v5/vms/%s/exec-await".formatted(vm), Client.exec(command))
                            .expect(200);
            assertEquals("0123456\n".repeat(KEPT / 8), result.requiredString("stdout"));
            assertEquals("", result.requiredString("stderr"));
            assertEquals(0, result.requiredInteger("statusCode"));
            assertEquals(Optional.of(true), result.bool("truncated"));
            return true;
        };
    }

    /// @return how long the slowest but one of them waited
    private Duration crowd(int size) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls =
                    IntStream.range(0, size)
                            .<Callable<Duration>>mapToObj(i -> () -> answer(i))
                            .toList();
            List<Future<Duration>> answers = threads.invokeAll(calls);
            var times = new ArrayList<Duration>();
            for (var answer : answers) {
                times.add(answer.get());
            }
            times.sort(null);
            return times.get(size - 2);
        }
    }

    private Duration answer(int number) {
        long begun = System.nanoTime();
        var command = "echo out %d; echo err %d >&2; exit %d".formatted(number, number, number);
        var result =
                client.post("/v5/vms/%s/exec-await".formatted(vm), Client.exec(command))
                        .expect(200);
        var time = Duration.ofNanos(System.nanoTime() - begun);
        assertEquals("out %d\n".formatted(number), result.requiredString("stdout"));
        assertEquals("err %d\n".formatted(number), result.requiredString("stderr"));
        assertEquals(number, result.requiredInteger("statusCode"));
        assertFalse(result.has("truncated"));
        return time;
    }

    /// @return the server's memory at this moment, in MiB; its peak is counted from here on
    private long forgetPeak() throws IOException {
        Files.writeString(proc("clear_refs"), "5");
        return mib("VmRSS");
    }

    private long mib(String what) throws IOException {
        try (var lines = Files.lines(proc("status"))) {
            var line = lines.filter(one -> one.startsWith(what + ":")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
        }
    }

    private Path proc(String file) {
        return Path.of("/proc", Long.toString(installation.serverPid()), file);
    }
}
