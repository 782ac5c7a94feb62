package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.process.ControlGroup;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The server is stopped or killed at any time; VMs go on, and the next start brings everything in order.
class RestartIT {
    private Installation installation;
    private Client client;

    @BeforeEach
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    @AfterEach
    void end() {
        if (installation != null) {
            installation.close();
        }
    }

    @Test
    void vmsGoOnThroughAnOrderlyRestart() {
        var running = client.createVm();
        client.run(
                running,
                "(i=0; while true; do i=$((i+1)); echo $i >> /dev/shm/count; sleep 0.05; done) >/dev/null 2>&1 &");
        var paused = client.createVm();
        client.run(paused, "echo kept > /dev/shm/kept");
        client.post("/v5/vms/%s/pause".formatted(paused), "{}").expect(200);
        var before = client.get("/v5/vms/" + running).expect(200);

        installation.stopServer();
        assertEquals(1, vmProcesses(), "the VM goes on without a server");
        installation.startServer();

        var after = client.get("/v5/vms/" + running).expect(200);
        assertEquals("running", after.requiredString("state"));
        assertEquals(before.requiredObject("resources"), after.requiredObject("resources"));
        long count = Long.parseLong(client.run(running, "tail -n 1 /dev/shm/count"));
        client.run(running, "sleep 0.3");
        assertTrue(
                Long.parseLong(client.run(running, "tail -n 1 /dev/shm/count")) > count,
                "its processes go on");
        assertEquals("paused", client.state(paused));
        assertEquals("kept", client.run(paused, "cat /dev/shm/kept"));
    }

    @Test
    void aKilledServerLosesNothingThatWasAcknowledgedAndLeavesNothingHalfDone()
            throws InterruptedException {
        var seed = System.nanoTime();
        System.out.println("seed " + seed);
        var random = new Random(seed);
        for (int round = 0; round < 3; round++) {
            killInTheMiddle(random.nextInt(50, 900));
        }
        assertEquals(
                2,
                Remains.entries(installation.data().resolve("native")).size(),
                "the library of the store and its mark, those of one server");
    }

    /// One VM runs a long command, one is being created and one is being paused when the server is killed.
    private void killInTheMiddle(int afterMillis) throws InterruptedException {
        var busy = client.createVm();
        var pausing = client.createVm();
        client.run(pausing, "head -c 8m /dev/urandom > /dev/shm/ram; sync");
        var hash = client.run(pausing, "sha256sum /dev/shm/ram");
        var created = new AtomicReference<String>();
        var calls =
                List.of(
                        begin(
                                () ->
                                        client.post(
                                                "/v5/vms/%s/exec-await".formatted(busy),
                                                Client.exec("sleep 3; echo done > /root/done"))),
                        begin(() -> client.post("/v5/vms/%s/pause".formatted(pausing), "{}")),
                        begin(() -> created.set(client.createVm())));
        calls.getLast()
                .join(Duration.ofMillis(afterMillis)); // somewhere in the middle of all of them

        installation.killServer();
        for (var call : calls) {
            call.join();
        }
        installation.startServer();

        assertEquals("running", client.state(busy));
        client.run(busy, "while [ ! -e /root/done ]; do sleep 0.1; done");
        assertTrue(
                List.of("running", "paused").contains(client.state(pausing)),
                () -> client.state(pausing));
        assertEquals(
                hash,
                client.run(pausing, "sha256sum /dev/shm/ram"),
                "after %d ms".formatted(afterMillis));
        assertAllWorkAndLeaveNothing(Optional.ofNullable(created.get()));
    }

    private void assertAllWorkAndLeaveNothing(Optional<String> acknowledged) {
        var all =
                client.get("/v5/vms").expect(200).requiredObjects("vms").stream()
                        .map(vm -> vm.requiredString("id"))
                        .toList();
        all.forEach(vm -> assertEquals("works", client.run(vm, "echo works")));
        assertTrue(acknowledged.map(all::contains).orElse(true), "an acknowledged VM is lost");
        assertNoOrphan();
        all.forEach(vm -> client.delete("/v5/vms/" + vm).expect(204));
        assertEquals(0, vmProcesses());
        assertNoOrphan();
    }

    private static Thread begin(Runnable call) {
        return Thread.startVirtualThread(() -> ignoreCut(call));
    }

    @Test
    void aVmThatWasLostWhileTheServerWasAwayIsStartedAgain() {
        var vm = client.createVm();
        client.run(vm, "echo kept > /root/kept; sync");
        installation.killServer();

        ControlGroup.of(DataLock.instance(installation.data()), vm).delete();
        installation.startServer();

        assertEquals("kept", client.run(vm, "cat /root/kept"));
    }

    @Test
    void whatBelongsToNobodyIsFoundByTheDoctorAndRemovedByTheNextStart()
            throws java.io.IOException {
        client.createVm();
        var stranger = installation.data().resolve("volume/vms/vm-00000000000000000000");
        java.nio.file.Files.createDirectories(stranger);

        var sick = installation.tryProgram("doctor");
        assertTrue(
                sick.status() == 7 && sick.output().contains("vm-00000000000000000000"),
                sick.output());
        installation.stopServer();
        installation.startServer();

        assertNoOrphan();
        assertTrue(!java.nio.file.Files.exists(stranger));
    }

    @Test
    void theAgentIsReachedAfterManyQuickReconnections() {
        var vm = client.createVm();
        for (int i = 0; i < 3; i++) {
            installation.killServer();
            installation.startServer();
            assertEquals("here " + i, client.run(vm, "echo here " + i));
        }
    }

    private void assertNoOrphan() {
        var outcome = installation.tryProgram("doctor");
        assertTrue(
                outcome.output().lines().anyMatch(line -> line.matches("orphans +ok +none")),
                outcome.output());
    }

    private long vmProcesses() {
        var instance = DataLock.instance(installation.data());
        var deadline = Deadline.in(Duration.ofSeconds(5));
        long count = count(instance);
        while (count > 1 && !deadline.isPast()) {
            Wait.moment();
            count = count(instance);
        }
        return count;
    }

    private static long count(String instance) {
        return ControlGroup.names(instance).stream()
                .mapToLong(name -> ControlGroup.of(instance, name).processes().size())
                .sum();
    }

    private static void ignoreCut(Runnable call) {
        try {
            call.run();
        } catch (java.io.UncheckedIOException e) {
            // the server was killed under it: that is the test
        }
    }
}
