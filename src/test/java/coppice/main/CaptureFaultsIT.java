package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.Wait;
import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// A capture of a running VM that fails in the middle, whatever makes it fail: the VM goes on with all it had, nothing of the capture is
/// left, older captures restore and the next one works.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CaptureFaultsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int ROUNDS = 4;
    private static final int MUCH = 128; // MiB, so that copying them takes a while

    // A test that went well leaves them to the next.
    private Installation installation;
    private Client client;
    private LoadedVm vm;
    private boolean isWhole;

    private void start() {
        if (!isWhole) {
            start(Map.of());
        }
        isWhole = false;
    }

    private void start(Map<String, String> settings) {
        end();
        installation = Installation.start(settings);
        client = installation.client("main");
        vm = new LoadedVm(installation, client, MUCH);
    }

    @AfterEach
    void endAfterFailure() {
        if (!isWhole) {
            end();
        }
    }

    @AfterAll
    void end() {
        isWhole = false;
        if (installation != null) {
            installation.close();
            installation = null;
        }
    }

    @Test
    void theServerMayDieAtAnyMomentOfACapture() throws Exception {
        start();
        var random = Seed.random(CaptureFaultsIT.class);
        for (int round = 0; round < ROUNDS; round++) {
            int millis = random.nextInt(round % 2 == 0 ? 500 : 2000);
            var call = begin(round % 2 == 0 ? vm::take : vm::fork);
            awaitEndOr(call, Duration.ofMillis(millis));
            installation.killServer();
            installation.startServer();

            vm.clearOthers();
            vm.requireWhole();
        }
        vm.requireCaptures();
        isWhole = true;
    }

    @Test
    void theTwinMayDie() throws Exception {
        start();
        for (Supplier<Client.Answer> capture :
                List.<Supplier<Client.Answer>>of(vm::take, vm::fork)) {
            var answer = untilFailed(capture, this::killTwin);

            LoadedVm.requireRefused(answer);
            vm.requireWhole();
        }
        vm.requireCaptures();
        isWhole = true;
    }

    /// The twin is the second process of its VM.
    private void killTwin() {
        var qemu = vm.remains().processes(vm.id()).getFirst();
        var deadline = Deadline.in(Duration.ofSeconds(5));
        while (!deadline.isPast()) {
            for (long pid : vm.remains().processes(vm.id())) {
                if (pid != qemu) {
                    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
                    return;
                }
            }
        }
    }

    /// Captures until one fails by what is done meanwhile; one that was complete before that is taken back.
    private Client.Answer untilFailed(Supplier<Client.Answer> capture, Runnable fault)
            throws Exception {
        for (int tries = 0; tries < 10; tries++) {
            var call = begin(capture::get);
            fault.run();
            var answer = call.get();
            if (answer.status() != 200) {
                return answer;
            }
            vm.clearOthers();
        }
        throw new AssertionError("no capture ever failed: " + vm);
    }

    @Test
    void theQemuMayDieAndIsThenStoppedWithItsDisk() throws Exception {
        start();
        client.patch("/v5/vms/" + vm.id(), "{\"automaticRestart\":false}").expect(200);
        for (Callable<Client.Answer> capture :
                List.<Callable<Client.Answer>>of(vm::take, vm::fork)) {
            var call = begin(capture);
            awaitStage();
            ProcessHandle.of(vm.remains().processes(vm.id()).getFirst())
                    .ifPresent(ProcessHandle::destroyForcibly);
            var answer = call.get();
            if (answer.status() == 200) {
                vm.clearOthers(); // its instant had been saved by then
            } else {
                LoadedVm.requireRefused(answer);
            }
            awaitState("stopped");
            vm.remains().require(Set.of(vm.id()), snapshots());
            client.post("/v5/vms/%s/start".formatted(vm.id()), "{}").expect(200);
            assertEquals("1", client.run(vm.id(), "ls /var/files | grep -c then-"));
        }
    }

    private void awaitState(String state) {
        Wait.until(
                PATIENCE,
                () -> client.state(vm.id()).equals(state),
                () -> "it is %s, %s".formatted(client.state(vm.id()), vm));
    }

    private Set<String> snapshots() {
        return Set.of(
                vm.old(),
                client.get("/v5/snapshots/svc%2Fbusybox").expect(200).requiredString("id"));
    }

    @Test
    void theVolumeMayBecomeFull() throws Exception {
        start(Map.of("COPPICE_DATA_VOLUME_SIZE", "4096", "COPPICE_NODE_DISK_RESERVE", "16"));
        var filler = installation.data().resolve("volume/filler");
        for (Supplier<Client.Answer> capture :
                List.<Supplier<Client.Answer>>of(vm::take, vm::fork)) {
            var answer =
                    untilFailed(
                            () -> {
                                delete(filler);
                                return capture.get();
                            },
                            () -> {
                                awaitStage();
                                fill(filler);
                            });
            delete(filler);

            LoadedVm.requireRefused(answer);
            vm.requireWhole();
        }
        vm.requireCaptures();
    }

    private void fill(Path filler) {
        try {
            long free = Files.getFileStore(vm.remains().vms()).getUsableSpace() - (8 << 20);
            Command.of("fallocate", "-l", Long.toString(free), filler.toString())
                    .run(Deadline.in(PATIENCE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void thePlaceOfCapturesMayBeUnwritable() {
        start();
        immutable("+i", vm.remains().snapshots());
        try {
            LoadedVm.requireRefused(vm.take());
            LoadedVm.requireRefused(vm.fork());
        } finally {
            immutable("-i", vm.remains().snapshots());
        }
        vm.requireWhole();
        vm.requireCaptures();
        isWhole = true;
    }

    /// The capture can then be neither published nor removed: it goes with the next start, at the latest. (A fork publishes nothing.)
    @Test
    void thePlaceOfCapturesMayBecomeUnwritable() throws Exception {
        start();
        try {
            LoadedVm.requireRefused(
                    untilFailed(
                            vm::take,
                            () -> {
                                awaitStage();
                                immutable("+i", vm.remains().snapshots());
                            }));
        } finally {
            immutable("-i", vm.remains().snapshots());
        }
        installation.killServer();
        installation.startServer();
        vm.requireWhole();
        vm.requireCaptures();
        isWhole = true;
    }

    private static void immutable(String flag, Path directory) {
        Command.of("chattr", flag, directory.toString()).runOrFail(Deadline.in(PATIENCE));
    }

    /// Waits until a capture is being made.
    private void awaitStage() {
        var deadline = Deadline.in(Duration.ofSeconds(5));
        while (Remains.entries(vm.remains().snapshots()).stream()
                        .noneMatch(name -> name.endsWith(".tmp") || name.startsWith("stage-"))
                && !deadline.isPast()) {
            Thread.onSpinWait();
        }
    }

    private static FutureTask<Client.Answer> begin(Callable<Client.Answer> capture) {
        var task = new FutureTask<>(capture);
        Thread.startVirtualThread(task);
        return task;
    }

    private static void awaitEndOr(FutureTask<Client.Answer> call, Duration limit)
            throws InterruptedException, java.util.concurrent.ExecutionException {
        try {
            call.get(limit.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS).expect(200);
        } catch (java.util.concurrent.TimeoutException e) {
            // in the middle of it: now
        }
    }
}
