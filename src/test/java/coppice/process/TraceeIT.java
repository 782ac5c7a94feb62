package coppice.process;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS) // they share one compiled program
class TraceeIT {
    private static final Path QEMU = Path.of("/usr/bin/qemu-system-x86_64");

    private Path program;
    private Path file;

    @BeforeAll
    void compile(@TempDir Path directory) throws Exception {
        program = WaitingProcess.compile(directory);
        file = Files.write(directory.resolve("file"), new byte[1 << 20]);
    }

    @Test
    void aProcessThatMayNotForkIsForkedAndGoesOn() throws Exception {
        try (var process = new WaitingProcess(program, file);
                var thread = new PlatformThread("tracer")) {
            thread.run(
                    () -> {
                        Tracee.Frozen child;
                        try (var tracee = hold(process.id())) {
                            child = tracee.fork();
                        }
                        process.change(1);
                        assertEquals(2, process.count());
                        child.close();
                    });
            process.change(2);
            awaitAlone(process, "at the end");
        }
    }

    @Test
    void signalsThatComeMeanwhileArriveOnce() throws Exception {
        try (var process = new WaitingProcess(program, file);
                var thread = new PlatformThread("tracer")) {
            for (int round = 1; round <= 20; round++) {
                thread.run(
                        () -> {
                            try (var tracee = hold(process.id())) {
                                SystemCall.KILL.call(process.id().pid(), 10, 0, 0);
                                tracee.call(SystemCall.MADVISE, 0, 0, 0);
                                tracee.fork().close();
                            }
                        });
                assertEquals(round, process.signals());
            }
        }
    }

    /// The thread that traces ends at each of its system calls in turn, which to the kernel is what the end of the server is. The process
    /// must live, and no child of it, and the traced thread must find all as it was, whatever it waits for.
    @ParameterizedTest
    @ValueSource(strings = {"main", "condition", "lock", "registers"})
    void whoeverTracesMayDieAtAnyOfItsSystemCalls(String thread) throws Exception {
        try (var process = new WaitingProcess(program, file)) {
            long traced = threadOf(process.id(), thread);
            boolean isThrough = false;
            for (int last = 0; !isThrough; last++) {
                isThrough = traceUntil(last, process.id(), traced);
                process.change(last);
                awaitAlone(process, "after system call " + last);
                assertTrue(last < 500, "it never comes to its end");
            }
            assertEquals(0, process.wake(), "registers have changed");
        }
    }

    /// The filter is what the process makes the injected call under when whoever suspended it has died.
    @ParameterizedTest
    @ValueSource(strings = {"main", "CPU 0/TCG"})
    void aQemuUnderItsFilterLivesThroughThatToo(String thread) {
        assumeTrue(Files.isExecutable(QEMU), "skipped: there is no QEMU");
        var process = startQemu();
        try {
            requireLife(process, threadOf(process, thread));
        } finally {
            process.kill();
        }
    }

    private static void requireLife(ProcessId process, long thread) {
        for (int round = 0; round < 3; round++) {
            boolean isThrough = false;
            for (int last = 0; !isThrough; last++) {
                isThrough = traceUntil(last, process, thread);
                assertTrue(
                        process.isAlive(),
                        "it ended after system call %d in thread %d of %d"
                                .formatted(last, thread, process.pid()));
                assertTrue(last < 500, "it never comes to its end");
            }
        }
    }

    /// The thread of the process that has this name, once there is one. The first one is `main`: others have its real name before theirs.
    private static long threadOf(ProcessId process, String name) {
        if (name.equals("main")) {
            return process.pid();
        }
        var tasks = Path.of("/proc/%d/task".formatted(process.pid()));
        var found = new AtomicLong();
        Wait.until(
                soon().left(),
                () -> {
                    try (var threads = Files.list(tasks)) {
                        threads.filter(thread -> name.equals(nameOf(thread)))
                                .map(thread -> Long.parseLong(thread.getFileName().toString()))
                                .forEach(found::set);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return found.get() != 0;
                },
                () -> "it has no thread " + name);
        return found.get();
    }

    private static String nameOf(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).strip();
        } catch (IOException e) {
            return ""; // has ended
        }
    }

    private static ProcessId startQemu() {
        var line =
                "setsid %s -nodefaults -display none -S -name twin,debug-threads=on -accel tcg %s </dev/null >/dev/null 2>&1 & echo $!";
        var sandbox =
                "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";
        var pid = Command.of("sh", "-c", line.formatted(QEMU, sandbox)).runOrFail(soon()).strip();
        var process = ProcessId.of(Long.parseLong(pid)).orElseThrow();
        Wait.until(soon().left(), () -> isFiltered(process), () -> "QEMU does not get its filter");
        return process;
    }

    private static boolean isFiltered(ProcessId process) {
        try {
            return Files.readString(Path.of("/proc/%d/status".formatted(process.pid())))
                    .contains("Seccomp:\t2");
        } catch (IOException e) {
            return false;
        }
    }

    private static void awaitAlone(WaitingProcess process, String when) {
        Wait.until(soon().left(), () -> process.count() == 1, () -> "a child is left " + when);
    }

    /// Traces with a thread that ends after so many system calls.
    ///
    /// @return whether it came to its end
    private static boolean traceUntil(int last, ProcessId process, long traced) {
        var calls = new AtomicInteger();
        var isThrough = new AtomicBoolean();
        var wayBack = SignalReturn.of(process);
        Tracee.Kernel dying =
                (call, a, b, c, d) -> {
                    if (calls.getAndIncrement() >= last) {
                        throw new Dead();
                    }
                    return call.call(a, b, c, d);
                };
        var thread =
                Thread.ofPlatform()
                        .unstarted(
                                () -> {
                                    try {
                                        Tracee.Frozen child;
                                        try (var tracee =
                                                Tracee.hold(
                                                        process, traced, wayBack, soon(), dying)) {
                                            tracee.call(SystemCall.MADVISE, 0, 0, 0);
                                            child = tracee.fork();
                                        }
                                        child.close();
                                        isThrough.set(true);
                                    } catch (Dead e) {
                                        // does nothing more, as a killed server does nothing more
                                    }
                                });
        thread.start();
        assertDoesNotThrow(() -> thread.join());
        return isThrough.get();
    }

    private static final class Dead extends Error {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void aProcessThatIsGoneIsAFailure() throws Exception {
        var process = new WaitingProcess(program, file);
        var id = process.id();
        var wayBack = SignalReturn.of(id);
        process.close();
        try (var thread = new PlatformThread("tracer")) {
            assertThrows(
                    Failure.class,
                    () -> thread.run(() -> Tracee.hold(id, id.pid(), wayBack, soon())));
        }
    }

    private static Tracee hold(ProcessId process) {
        return Tracee.hold(process, process.pid(), SignalReturn.of(process), soon());
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(10));
    }
}
