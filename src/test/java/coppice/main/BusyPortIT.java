package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.json.Json;
import coppice.qemu.MachineFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// VMs that are paused, and captured for copies, while bytes move both ways through the port of their agent.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BusyPortIT {
    private static final int PAUSES = 10;
    private static final int FORKS = 3;
    private static final int CALLERS = 3;
    private static final int SAID = 3_000_000;
    private static final String SAY = "head -c %d /dev/zero".formatted(SAID);

    /// An agent that must be greeted again, because its port was stuck, takes as long as the greeting is waited for.
    private static final Duration START = Duration.ofSeconds(10);

    /// The queue of the agent's port to the host: queues 0 to 3 are another port's and the device's own (virtio 1.2, 5.3.2).
    private static final String QUEUE =
            "{'execute':'x-query-virtio-queue-status','arguments':"
                    + "{'path':'/machine/peripheral/serial/virtio-backend','queue':5}}";

    @AutoClose private Installation installation;
    private Client client;

    @BeforeAll
    void start() {
        installation = Installation.start();
        client = installation.client("main");
    }

    /// QEMU drops a buffer that it is about to send when nobody is connected any more, and the guest never gets it back: of 128.
    @Test
    void noPauseAndNoEndOfTheServerCostsTheGuestABufferOfItsPort() throws Exception {
        var vm = client.createVm();
        var slowest = Duration.ZERO;
        try (var noise = new Noise(vm)) {
            for (int i = 0; i < PAUSES; i++) {
                noise.await();
                client.post("/v5/vms/%s/pause".formatted(vm), "").expect(200);
                long begun = System.nanoTime();
                client.post("/v5/vms/%s/start".formatted(vm), "").expect(200);
                var time = Duration.ofNanos(System.nanoTime() - begun);
                slowest = time.compareTo(slowest) > 0 ? time : slowest;
            }
            noise.await();
            noise.end();
            installation.stopServer();
        }
        System.out.printf("%d starts: the slowest took %d ms%n", PAUSES, slowest.toMillis());
        assertEquals(0, buffersUnderWay(vm));
        assertTrue(slowest.compareTo(START) < 0, "a start took " + slowest);
        installation.startServer();
        client.delete("/v5/vms/" + vm).expect(204);
    }

    @Test
    void copiesOfABusyVmWork() throws Exception {
        var vm = client.createVm();
        try (var noise = new Noise(vm)) {
            for (int i = 0; i < FORKS; i++) {
                noise.await();
                var copies =
                        client.post("/v5/vms/%s/fork".formatted(vm), "{\"count\":2}").expect(200);
                for (var copy : copies.requiredObjects("vms")) {
                    var id = copy.requiredString("id");
                    assertEquals(Integer.toString(SAID), client.run(id, SAY + " | wc -c"));
                    client.delete("/v5/vms/" + id).expect(204);
                }
            }
            noise.end();
        }
        client.delete("/v5/vms/" + vm).expect(204);
    }

    /// Callers of a VM whose commands say much; each is answered right.
    private final class Noise implements AutoCloseable {
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final List<Future<?>> callers = new ArrayList<>();
        private final Semaphore answers = new Semaphore(0);
        private final AtomicBoolean isOver = new AtomicBoolean();

        Noise(String vm) {
            for (int i = 0; i < CALLERS; i++) {
                callers.add(threads.submit(() -> call(vm)));
            }
        }

        private void call(String vm) {
            while (!isOver.get()) {
                try {
                    assertEquals(SAID, client.run(vm, SAY + " | tr '\\0' x").length());
                } catch (AssertionError | UncheckedIOException e) {
                    if (!isOver.get()) {
                        throw e;
                    }
                }
                answers.release();
            }
        }

        /// Until a caller has been answered from here on.
        void await() throws InterruptedException {
            answers.drainPermits();
            while (!answers.tryAcquire(1, TimeUnit.SECONDS)) {
                requireRight();
            }
        }

        private void requireRight() {
            for (var caller : callers) {
                if (caller.state() == Future.State.FAILED) {
                    throw new AssertionError(caller.exceptionNow());
                }
            }
        }

        /// What is asked from here on may fail.
        void end() {
            isOver.set(true);
        }

        @Override
        public void close() {
            end();
            threads.close();
            requireRight();
        }
    }

    /// How many buffers QEMU has taken from the guest and not given back. Nobody else may be connected to the QEMU.
    private int buffersUnderWay(String vm) throws IOException {
        var files = new MachineFiles(installation.data().resolve("volume/vms").resolve(vm));
        try (var qmp = SocketChannel.open(UnixDomainSocketAddress.of(files.qmp()));
                var lines = new BufferedReader(Channels.newReader(qmp, StandardCharsets.UTF_8))) {
            ask(qmp, lines, "{'execute':'qmp_capabilities'}");
            var queue = Json.parse(ask(qmp, lines, QUEUE).getBytes(StandardCharsets.UTF_8));
            return Math.toIntExact(queue.requiredObject("return").requiredInteger("inuse"));
        }
    }

    private static String ask(SocketChannel qmp, BufferedReader lines, String command)
            throws IOException {
        qmp.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.UTF_8)));
        var line = lines.readLine();
        while (!line.startsWith("{\"return\"")) {
            line = lines.readLine();
        }
        return line;
    }
}
