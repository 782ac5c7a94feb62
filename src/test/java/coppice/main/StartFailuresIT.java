package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// VMs whose QEMU does not come up, or takes long: what can be done to them meanwhile, and what is left.
class StartFailuresIT {
    private static final String NO_RULES = "\"firewall\":{\"rules\":[]}";

    @TempDir private Path directory;

    @Test
    void aMachineThatDoesNotComeUpIsRemoved() throws IOException {
        var broken = fakeQemu("echo 'this one is broken' >&2; exit 1");
        try (var other = Installation.start(Map.of("PATH", broken))) {
            var caller = other.client("main");
            var answer = caller.post("/v5/vms", "{" + NO_RULES + "}");
            answer.expect(503, "UNAVAILABLE");
            assertTrue(answer.message().contains("this one is broken"), answer.message());
            assertEquals(0, caller.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        }
        try (var other =
                Installation.start(
                        Map.of(
                                "PATH",
                                fakeQemu("exec sleep 60"),
                                "COPPICE_VM_START_TIMEOUT",
                                "1"))) {
            var caller = other.client("main");
            caller.post("/v5/vms", "{" + NO_RULES + "}").expect(504, "VM_START_TIMEOUT");
            Wait.until(
                    Duration.ofSeconds(20),
                    () -> caller.get("/v5/vms").expect(200).requiredInteger("totalCount") == 0,
                    () -> "the VM that did not come up stays");
        }
    }

    @Test
    void aVmThatIsStartingIsNeitherPausedNorStoppedButKilledAndDeleted() throws Exception {
        var hang = directory.resolve("hang");
        var path =
                fakeQemu(
                        "[ -e %s ] && exec sleep 600; exec /usr/bin/qemu-system-x86_64 \"$@\""
                                .formatted(hang));
        try (var other = Installation.start(Map.of("PATH", path))) {
            var caller = other.client("main");
            var mine = caller.createVm();
            caller.post("/v5/vms/%s/stop".formatted(mine), "{}").expect(200);
            Files.createFile(hang);

            var start =
                    inBackground(
                            () ->
                                    caller.post("/v5/vms/%s/start".formatted(mine), "{}")
                                            .expect(503, "UNAVAILABLE"));
            awaitState(caller, "starting");
            refusesWhileItIsStarting(caller, mine);
            var soon = Deadline.in(Duration.ofSeconds(30));
            assertEquals(
                    "stopped",
                    caller.post("/v5/vms/%s/kill".formatted(mine), "{}")
                            .expect(200)
                            .requiredString("state"));
            assertTrue(!soon.isPast(), "the kill waited for the start");
            start.get();

            var create =
                    inBackground(
                            () ->
                                    caller.post("/v5/vms", "{" + NO_RULES + "}")
                                            .expect(503, "UNAVAILABLE"));
            var made = awaitState(caller, "starting");
            caller.delete("/v5/vms/" + made).expect(204);
            create.get();
            Files.delete(hang);

            caller.post("/v5/vms/%s/start".formatted(mine), "{}").expect(200);
            assertEquals(1, caller.get("/v5/vms").expect(200).requiredInteger("totalCount"));
        }
    }

    @Test
    void aLegacyStartTellsHowItFailedAndGoesOnWithoutACallerWhoHasWaitedLongEnough()
            throws IOException {
        var exit = directory.resolve("exit");
        var hang = directory.resolve("hang");
        var path =
                fakeQemu(
                        "[ -e %s ] && exit 1; [ -e %s ] && exec sleep 600; exec /usr/bin/qemu-system-x86_64 \"$@\""
                                .formatted(exit, hang));
        try (var other = Installation.start(Map.of("PATH", path))) {
            var caller = other.client("main");
            var mine = caller.createVm();
            var start = "/v1/vms/%s/start".formatted(mine);
            caller.run(
                    mine,
                    "rm /sbin/init; echo '#!/bin/false' > /sbin/init; chmod 755 /sbin/init; sync");
            caller.post("/v5/vms/%s/kill".formatted(mine), "{}").expect(200);
            caller.post(start, "{}").expect(500, "KERNEL_PANIC");
            Files.createFile(exit);
            caller.post(start, "{}").expect(500, "VM_EXIT_DURING_START");
            caller.post("/v5/vms/%s/start".formatted(mine), "{}").expect(503, "UNAVAILABLE");
            caller.post("/v5/vms/%s/exec-await".formatted(mine), Client.exec("true"))
                    .expect(503, "UNAVAILABLE");
            assertEquals("stopped", caller.state(mine));
            Files.move(exit, hang);
            caller.post(start, "{\"readySignalTimeoutSeconds\":1}").expect(504, "VM_START_TIMEOUT");
            assertEquals("starting", caller.state(mine));
            caller.delete("/v5/vms/" + mine).expect(204);
        }
    }

    @Test
    void aLegacyForkGoesOnWithoutACallerWhoHasWaitedLongEnough() throws IOException {
        var hang = directory.resolve("hang");
        var path =
                fakeQemu(
                        "while [ -e %s ]; do sleep 0.1; done; exec /usr/bin/qemu-system-x86_64 \"$@\""
                                .formatted(hang));
        try (var other = Installation.start(Map.of("PATH", path))) {
            var caller = other.client("main");
            var mine = caller.createVm();
            Files.createFile(hang);
            caller.post("/v1/vms/%s/fork".formatted(mine), "{\"readySignalTimeoutSeconds\":1}")
                    .expect(504, "VM_START_TIMEOUT");
            var copy = awaitState(caller, "starting");
            Files.delete(hang);
            Wait.until(
                    Duration.ofSeconds(30),
                    () -> caller.state(copy).equals("running"),
                    () -> "the copy is " + caller.state(copy));
        }
    }

    /// Its QEMU is stopped by a signal meanwhile, so that the pause takes as long as the test wants.
    @Test
    void aVmThatIsPausingIsNotStoppedAndAStartWaitsForThePause() throws Exception {
        try (var installation = Installation.start()) {
            var caller = installation.client("main");
            var vm = caller.createVm();
            caller.run(vm, "echo kept > /dev/shm/kept");
            long qemu = qemu(installation, vm);
            signal("STOP", qemu);
            var pause =
                    inBackground(
                            () -> caller.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(200));
            awaitState(caller, "pausing");
            refusesWhatNeedsASettledVm(caller, vm);
            for (var verb : List.of("start", "stop", "fork", "snapshot")) {
                caller.post("/v1/vms/%s/%s".formatted(vm, verb), "{}")
                        .expect(409, "VM_IS_SUSPENDING");
            }
            var start =
                    inBackground(
                            () -> caller.post("/v5/vms/%s/start".formatted(vm), "{}").expect(200));
            assertEquals("pausing", caller.state(vm));
            signal("CONT", qemu);
            pause.get();
            start.get();

            assertEquals("running", caller.state(vm));
            assertEquals("kept", caller.run(vm, "cat /dev/shm/kept"));
        }
    }

    @Test
    void aSuspendWhoseMachineEndsSaysThatTheVmIsStopped() throws Exception {
        try (var installation = Installation.start()) {
            var caller = installation.client("main");
            var vm = caller.createVm("{\"automaticRestart\":false," + NO_RULES + "}");
            long qemu = qemu(installation, vm);
            signal("STOP", qemu);
            var suspend =
                    inBackground(
                            () ->
                                    caller.post("/v1/vms/%s/suspend".formatted(vm), "{}")
                                            .expect(500, "SUSPEND_FAILED_AND_STOPPED"));
            awaitState(caller, "pausing");
            signal("KILL", qemu);
            suspend.get();
            assertEquals("stopped", caller.state(vm));
        }
    }

    private static void refusesWhileItIsStarting(Client caller, String vm) {
        refusesWhatNeedsASettledVm(caller, vm);
        caller.post("/v1/vms/%s/stop".formatted(vm), "{}").expect(400, "VM_NOT_RUNNING");
        caller.post("/v1/vms/%s/suspend".formatted(vm), "{}").expect(400, "VM_NOT_RUNNING");
        caller.post("/v1/vms/%s/fork".formatted(vm), "{}").expect(409, "CONFLICT");
        caller.post("/v5/vms/%s/pause".formatted(vm), "{}").expect(409, "CONFLICT");
    }

    private static void refusesWhatNeedsASettledVm(Client caller, String vm) {
        for (var verb : List.of("stop", "fork", "snapshot")) {
            caller.post("/v5/vms/%s/%s".formatted(vm, verb), "{}").expect(409, "CONFLICT");
        }
    }

    private static long qemu(Installation installation, String vm) {
        return new Remains(installation).processes(vm).getFirst();
    }

    private static void signal(String name, long pid) {
        Command.of("kill", "-" + name, Long.toString(pid))
                .runOrFail(Deadline.in(Duration.ofSeconds(5)));
    }

    /// A directory for PATH with a QEMU of our own, which tells the version of the real one.
    private String fakeQemu(String script) throws IOException {
        Files.setPosixFilePermissions(
                directory, PosixFilePermissions.fromString("rwxr-xr-x")); // VMs run as other users
        var bin = Files.createTempDirectory(directory, "bin");
        Files.setPosixFilePermissions(bin, PosixFilePermissions.fromString("rwxr-xr-x"));
        var fake = bin.resolve("qemu-system-x86_64");
        Files.writeString(
                fake,
                "#!/bin/sh\n[ \"$1\" = --version ] && exec /usr/bin/qemu-system-x86_64 --version\n"
                        + script
                        + "\n");
        Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwxr-xr-x"));
        return bin + ":" + System.getenv("PATH");
    }

    /// What it finds wrong, whoever waits for its end is told.
    private static Future<Boolean> inBackground(Runnable call) {
        var task = new FutureTask<>(call, true);
        Thread.startVirtualThread(task);
        return task;
    }

    /// Waits for a VM in this state, and returns its id.
    private static String awaitState(Client caller, String state) {
        var deadline = Deadline.in(Duration.ofSeconds(30));
        while (!deadline.isPast()) {
            var found = caller.get("/v5/vms?state=" + state).expect(200).requiredObjects("vms");
            if (!found.isEmpty()) {
                return found.getFirst().requiredString("id");
            }
            Wait.moment();
        }
        throw new AssertionError("no VM is ever " + state);
    }
}
