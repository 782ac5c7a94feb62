package coppice.main;

import coppice.Seed;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Commands, terminals and files of two VMs at once, while callers go away, VMs are paused and the server is killed: every byte and every
/// exit status is what it must be.
class EveryByteIT {

    /// `-Dcoppice.inside.steps=N` makes a soak of it; `-Dcoppice.inside.largest=5g -Dcoppice.inside.calm=400` moves gigabytes.
    private static final int STEPS = Integer.getInteger("coppice.inside.steps", 80);

    private static final long LARGEST = bytes(System.getProperty("coppice.inside.largest", "64m"));
    private static final long MIB = 1 << 20;
    private static final long USUAL = 64 * MIB;
    private static final int VMS = 2;

    /// Room for what all commands say at once and the agent keeps of it.
    private static final int MEMORY = 512;

    private final Story story = new Story();
    private final AtomicInteger left = new AtomicInteger(STEPS);

    @Test
    void everyByteAndEveryStatusIsWhatItMustBeWhateverIsCutOff() throws Exception {
        var random = Seed.random(EveryByteIT.class);
        try (var installation = Installation.start(settings())) {
            try {
                run(installation, random);
            } catch (Exception | AssertionError e) {
                throw new AssertionError(
                        "%s\n\nSteps:\n%s\n\nServer:\n%s"
                                .formatted(e.getMessage(), story, installation.logTail()),
                        e);
            }
            System.out.println(story);
        }
    }

    /// The data volume holds a disk with two files of the largest size, and the upload of one.
    private static Map<String, String> settings() {
        return Map.of("COPPICE_DATA_VOLUME_SIZE", Long.toString(8192 + 4 * LARGEST / MIB));
    }

    private void run(Installation installation, Random random) throws Exception {
        var client = installation.client("main");
        var vms = Stream.generate(() -> newVm(client)).limit(VMS).toList();
        var weather = new Weather(installation, client, vms, random, story);
        var sizes = new Sizes(LARGEST, Math.max(STEPS * MIB / 2, 2 * LARGEST));
        var traffic = new ArrayList<Supplier<Traffic>>();
        for (var vm : vms) {
            long largest = vm.equals(vms.getFirst()) ? LARGEST : Math.min(LARGEST, USUAL);
            Supplier<Lane> lanes =
                    () ->
                            new Lane(
                                    client,
                                    weather,
                                    story,
                                    vm,
                                    new Random(random.nextLong()),
                                    sizes);
            traffic.addAll(traffic(Stream.generate(lanes).limit(5).toList(), largest));
        }
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var lanes = new ArrayList<Future<?>>();
            traffic.forEach(lane -> lanes.add(threads.submit(() -> drive(lane.get()))));
            try {
                weather.blow(() -> lanes.stream().anyMatch(lane -> !lane.isDone()));
            } finally {
                left.set(0);
            }
            for (var lane : lanes) {
                lane.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause().getMessage(), e.getCause());
        }
    }

    private static String newVm(Client client) {
        var vm = client.createVm();
        Numbers.give(client, vm);
        long storage = LARGEST > USUAL ? 1000 + 3 * LARGEST / MIB : 1000;
        var size = "{\"memory\":%d,\"storage\":%d}".formatted(MEMORY, storage);
        client.post("/v5/vms/%s/resize".formatted(vm), size).expect(200);
        return vm;
    }

    private static List<Supplier<Traffic>> traffic(List<Lane> lanes, long largest) {
        return List.of(
                () -> new ExecTraffic(lanes.get(0)),
                () -> new ExecTraffic(lanes.get(1)),
                () -> new TerminalTraffic(lanes.get(2)),
                () -> new EchoTraffic(lanes.get(3)),
                () -> new FileTraffic(lanes.get(4), largest));
    }

    private boolean drive(Traffic traffic) {
        Thread.currentThread().setName(traffic.getClass().getSimpleName());
        try {
            while (left.getAndDecrement() > 0) {
                traffic.step();
            }
            traffic.end();
            return true;
        } catch (RuntimeException | Error e) {
            story.tell("FAILS: " + e);
            left.set(0);
            throw e;
        }
    }

    private static long bytes(String text) {
        var digits = text.replaceAll("[kmgKMG]$", "");
        int shift =
                switch (text.substring(digits.length()).toLowerCase(Locale.ROOT)) {
                    case "k" -> 10;
                    case "m" -> 20;
                    case "g" -> 30;
                    default -> 0;
                };
        return Long.parseLong(digits) << shift;
    }
}
