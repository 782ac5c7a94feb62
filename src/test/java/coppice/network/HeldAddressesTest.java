package coppice.network;

import static coppice.network.GivenTunnels.in;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Whatever comes and goes in the networks of an account: no two hold one address, and no two tunnels have ranges that overlap.
class HeldAddressesTest {
    private static final int STEPS = 1500;
    private static final int TUNNELS = 6;
    private static final int VMS = 12;

    @TempDir private Path directory;
    private GivenTunnels given;
    private Random random;

    @BeforeEach
    void open() {
        given = new GivenTunnels(directory);
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void randomComingsAndGoingsShareNothing() {
        random = Seed.random(HeldAddressesTest.class);
        var networks =
                List.of(
                        given.network("a", "10.0.0.0/28"),
                        given.network("b", "10.0.0.16/28"),
                        given.network("c", "10.0.0.0/27"));
        IntStream.range(0, TUNNELS).forEach(n -> given.tunnel("t" + n));
        var outcomes = new HashMap<String, Integer>();
        for (int step = 0; step < STEPS; step++) {
            given.pass(Duration.ofMillis(1));
            outcomes.merge(step(networks), 1, Integer::sum);
            networks.forEach(this::requireNothingShared);
        }
        assertTrue(outcomes.getOrDefault("attach", 0) > 50, outcomes.toString());
        assertTrue(outcomes.getOrDefault("join", 0) > 50, outcomes.toString());
        assertTrue(outcomes.getOrDefault("attach CONFLICT", 0) > 50, outcomes.toString());
        var before = given.networks().of(given.ada());
        given.reopen();
        assertEquals(before, given.networks().of(given.ada()));
    }

    /// What was tried and how it ended.
    private String step(List<Vpc> networks) {
        var network = networks.get(random.nextInt(networks.size()));
        var tunnel = "t" + random.nextInt(TUNNELS);
        var vm = "vm-" + random.nextInt(VMS);
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> tried("attach", () -> attach(tunnel, network));
            case 4, 5 ->
                    tried(
                            "detach",
                            () -> given.tunnels().detach(given.ada(), tunnel, network.id().text()));
            case 6 -> tried("again", () -> again(tunnel));
            case 7, 8 -> tried("join", () -> join(vm, network));
            default ->
                    tried(
                            "leave",
                            () -> {
                                given.leave(vm);
                                return vm;
                            });
        };
    }

    private static String tried(String what, Callable<?> step) {
        try {
            step.call();
            return what;
        } catch (Failure e) {
            assertTrue(
                    List.of(Code.CONFLICT, Code.NOT_FOUND, Code.BAD_REQUEST).contains(e.code()),
                    e.toString());
            return what + " " + e.code();
        } catch (Exception e) {
            throw new IllegalStateException(what, e);
        }
    }

    private Tunnel attach(String tunnel, Vpc network) {
        var remote = new ArrayList<Cidr>();
        while (random.nextInt(3) == 0) {
            remote.add(range(network));
        }
        var wanted =
                switch (random.nextInt(3)) {
                    case 0 -> new Wanted.Exactly(address(network, false));
                    case 1 -> new Wanted.None();
                    default -> new Wanted.Any();
                };
        var wantedV6 =
                random.nextInt(4) == 0
                        ? new Wanted.Exactly(address(network, true))
                        : new Wanted.Any();
        return given.tunnels()
                .attach(
                        given.ada(),
                        tunnel,
                        new NewAttachment(
                                "", network.id().text(), wanted, wantedV6, remote, false));
    }

    private IpAddress address(Vpc network, boolean isV6) {
        return network.range(isV6).first().plus(random.nextInt(40));
    }

    private Cidr range(Vpc network) {
        boolean isV6 = random.nextInt(4) == 0;
        int bits = isV6 ? 124 : 28;
        return Cidr.around(address(network, isV6), bits + random.nextInt(5));
    }

    private Tunnel again(String tunnel) {
        given.tunnels().delete(given.ada(), tunnel);
        return given.tunnel(tunnel);
    }

    private Nic join(String vm, Vpc network) {
        if (given.networks().of(given.ada()).nic(new MemberId(vm)).isPresent()) {
            throw new Failure(Code.CONFLICT, "it is there");
        }
        return given.vm(vm, network);
    }

    private void requireNothingShared(Vpc network) {
        var now = given.networks().of(given.ada());
        var places =
                now.tunnelsOf(network.id())
                        .flatMap(tunnel -> tunnel.attachment(network.id()).stream())
                        .toList();
        var held = new HashSet<IpAddress>();
        Stream.concat(
                        places.stream().flatMap(Attachment::addresses),
                        now.members(network.id())
                                .flatMap(nic -> nic.membership().stream())
                                .flatMap(Membership::addresses))
                .forEach(
                        address -> {
                            assertTrue(held.add(address), address + " is held twice");
                            assertTrue(network.canHold(address), address.toString());
                            assertTrue(
                                    places.stream()
                                            .flatMap(place -> place.remote().stream())
                                            .noneMatch(range -> range.contains(address)),
                                    address + " is in a range of a tunnel");
                        });
        for (var one : places) {
            for (var other : places) {
                assertTrue(
                        one == other || one.remote().stream().noneMatch(r -> overlaps(r, other)),
                        () -> "%s and %s overlap".formatted(one, other));
            }
        }
        now.tunnels().values().forEach(HeldAddressesTest::requireApart);
    }

    private static boolean overlaps(Cidr range, Attachment place) {
        return place.remote().stream().anyMatch(range::overlaps);
    }

    private static void requireApart(Tunnel tunnel) {
        for (var one : tunnel.attachments()) {
            for (var other : tunnel.attachments()) {
                assertTrue(
                        one == other
                                || one.ranges()
                                        .noneMatch(r -> other.ranges().anyMatch(r::overlaps)),
                        () -> tunnel + " is in networks that overlap");
            }
        }
    }

    @Test
    void manyAtOnceShareNothingAndFillTheNetwork() throws Exception {
        var network = given.network("backend", "10.0.0.0/28");
        IntStream.range(0, 10).forEach(n -> given.tunnel("t" + n));
        var calls = new ArrayList<Callable<String>>();
        for (int n = 0; n < 10; n++) {
            var tunnel = "t" + n;
            var vm = "vm-" + n;
            calls.add(
                    () ->
                            tried(
                                    "held",
                                    () ->
                                            given.tunnels()
                                                    .attach(given.ada(), tunnel, in("backend"))));
            calls.add(() -> tried("held", () -> given.vm(vm, network)));
        }
        var outcomes = atOnce(calls);
        assertEquals(14, outcomes.stream().filter("held"::equals).count());
        assertEquals(6, outcomes.stream().filter("held CONFLICT"::equals).count());
        requireNothingShared(network);
    }

    @Test
    void tunnelsThatAreMadeAtOnceHaveNumbersOfTheirOwn() throws Exception {
        var calls =
                IntStream.range(0, 20)
                        .<Callable<Integer>>mapToObj(
                                n ->
                                        () ->
                                                given.tunnel(
                                                                n % 2 == 0
                                                                        ? given.ada()
                                                                        : given.bob(),
                                                                "t" + n)
                                                        .number())
                        .toList();
        assertEquals(20, atOnce(calls).stream().distinct().count());
    }

    private static <T> List<T> atOnce(List<Callable<T>> calls)
            throws InterruptedException, ExecutionException {
        var results = new ArrayList<T>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (var future : threads.invokeAll(calls)) {
                results.add(future.get());
            }
        }
        return results;
    }

    @Test
    void oneKeyIsGivenToOneOfManyThatWantIt() throws Exception {
        var key = KeyPair.random().publicKey();
        IntStream.range(0, 10).forEach(n -> given.tunnel("t" + n));
        var calls =
                IntStream.range(0, 10)
                        .<Callable<String>>mapToObj(
                                n ->
                                        () ->
                                                tried(
                                                        "rotated",
                                                        () ->
                                                                given.tunnels()
                                                                        .rotateKey(
                                                                                given.ada(),
                                                                                "t" + n,
                                                                                Optional.of(key))))
                        .toList();
        assertEquals(1, atOnce(calls).stream().filter("rotated"::equals).count());
    }
}
