package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.json.JsonObject;
import coppice.main.GuestFlow.Party;
import coppice.main.GuestFlow.Vm;
import coppice.network.Protocol;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Real guests try what `FabricModelIT` tries many times more often with namespaces in their stead.
class GuestModelIT {
    private static final int ROUNDS = 4;
    private static final int FLOWS = 15;

    /// In seconds. What ought to be answered is tried again: an emulated guest may have much else to do.
    private static final int PATIENCE = 1;

    private static final int MORE_PATIENCE = 8;

    private static final String SERVE =
            "mkdir -p /www; echo here > /www/page; for p in 80 443; do httpd -p $p -h /www; done";

    private final Random random = Seed.random(GuestModelIT.class);
    private final Rulebook rules = new Rulebook(random);
    private final List<Vm> vms = new ArrayList<>();

    @AutoClose private Installation installation;
    @AutoClose private Internet internet;
    private Client ada;
    private Client bob;

    @BeforeEach
    void start() {
        installation = Installation.start(Map.of("COPPICE_NETWORK_IPV6", Internet.RANGE));
        internet = new Internet(installation.host());
        ada = installation.client("ada");
        bob = installation.client("bob");
    }

    @AfterEach
    void deleteAll() {
        vms.forEach(vm -> vm.owner().delete("/v5/vms/" + vm.id()).expect(204));
    }

    @Test
    void whatGuestsReachIsWhatEvaluateSaysThroughChangesPauseAndFork() {
        ada.post(
                        "/v5/vpcs",
                        "{\"slug\":\"back\",\"cidr\":\"10.20.30.0/24\",\"cidrV6\":\"fd00:1:2:3::/64\"}")
                .expect(200);
        var member = ",\"vpcs\":[{\"vpcId\":\"back\"}]";
        create(ada, member);
        create(ada, member);
        var alone = create(ada, "");
        create(bob, "");
        int allowed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            if (round == 1) {
                var paused = any(vms);
                act(paused, "pause");
                act(paused, "start");
            } else if (round == 2) {
                var forked = ada.post("/v5/vms/%s/fork".formatted(alone.id()), "{}").expect(200);
                forked.requiredObjects("vms").forEach(copy -> vms.add(vm(ada, copy)));
            }
            Stream.of(ada, bob).forEach(account -> rules.change(account, vms));
            allowed += tryAll(flows());
        }
        System.out.printf("%d of %d were allowed%n", allowed, ROUNDS * FLOWS);
    }

    private Vm create(Client owner, String more) {
        var vm =
                vm(
                        owner,
                        owner.post("/v5/vms", "{\"firewall\":{\"rules\":[]}%s}".formatted(more))
                                .expect(200));
        owner.run(vm.id(), SERVE);
        vms.add(vm);
        return vm;
    }

    private static Vm vm(Client owner, JsonObject answered) {
        var places = answered.requiredObjects("vpcs");
        var addresses = new ArrayList<String>();
        places.forEach(
                place -> {
                    addresses.add(place.requiredString("ipv4"));
                    addresses.add(place.requiredString("ipv6"));
                });
        if (places.isEmpty()) {
            addresses.add("192.0.0.2");
        }
        addresses.add(answered.requiredString("publicIpv6"));
        return new Vm(
                answered.requiredString("id"),
                owner,
                places.stream().map(place -> place.requiredString("vpcId")).toList(),
                addresses);
    }

    private static void act(Vm vm, String act) {
        vm.owner().post("/v5/vms/%s/%s".formatted(vm.id(), act), "{}").expect(200);
    }

    private List<GuestFlow> flows() {
        return Stream.generate(this::flow).distinct().limit(FLOWS).toList();
    }

    private GuestFlow flow() {
        var from = any(vms);
        var to = random.nextInt(10) < 6 ? member(from) : other();
        var protocol =
                any(List.of(Protocol.TCP, Protocol.TCP, Protocol.TCP, Protocol.ICMP, Protocol.UDP));
        int port =
                switch (protocol) {
                    case TCP -> to.vm().isPresent() ? any(List.of(80, 443)) : port(to);
                    case UDP -> GuestFlow.CLOSED;
                    case ICMP -> 0;
                };
        return new GuestFlow(
                new Party(Optional.of(from), source(from, to.address()), true), protocol, to, port);
    }

    private Party member(Vm from) {
        var to = any(vms.stream().filter(vm -> vm != from).toList());
        var address = any(to.addresses());
        boolean isPublic = address.startsWith("2001:");
        return isPublic || from.isBeside(to)
                ? new Party(Optional.of(to), address, true)
                : new Party(Optional.empty(), otherThan(from, address), false);
    }

    /// Everybody who is alone has the same address, so one's own is no other's.
    private String otherThan(Vm from, String address) {
        return from.addresses().contains(address) ? "10.20.30.99" : address;
    }

    private Party other() {
        return any(
                List.of(
                        new Party(Optional.empty(), Internet.IPV4, true),
                        new Party(Optional.empty(), Internet.IPV4, true),
                        new Party(Optional.empty(), Internet.IPV6, true),
                        new Party(Optional.empty(), Internet.IPV6, true),
                        new Party(Optional.empty(), installation.address(), false),
                        new Party(Optional.empty(), "169.254.169.254", false)));
    }

    /// The API's where the host is meant.
    private int port(Party to) {
        return to.isReachable() ? 80 : installation.port();
    }

    /// Which of its addresses a guest takes for that.
    private static String source(Vm from, String to) {
        var last = from.addresses().getLast();
        return !to.contains(":")
                ? from.addresses().getFirst()
                : to.startsWith("fd") && from.addresses().size() > 2
                        ? from.addresses().get(1)
                        : last;
    }

    /// @return how many were allowed
    private int tryAll(List<GuestFlow> flows) {
        var allowed = new HashSet<GuestFlow>();
        for (var flow : flows) {
            boolean isAllowed = flow.isAllowedByEvaluate();
            assertEquals(flow.isAllowedByReading(rules), isAllowed, () -> "reading: " + flow);
            if (isAllowed) {
                allowed.add(flow);
            }
        }
        var answered = new HashSet<>(answered(flows, PATIENCE));
        var late = allowed.stream().filter(flow -> !answered.contains(flow)).toList();
        if (!late.isEmpty()) {
            answered.addAll(answered(late, MORE_PATIENCE));
        }
        assertEquals(lines(allowed), lines(answered), () -> story(flows));
        return allowed.size();
    }

    private static String lines(Set<GuestFlow> flows) {
        return flows.stream().map(GuestFlow::toString).sorted().collect(Collectors.joining("\n"));
    }

    private String story(List<GuestFlow> flows) {
        return Stream.of(
                        vms.stream().map(Vm::toString),
                        Stream.of(ada, bob)
                                .flatMap(account -> rules.of(account).stream())
                                .map(Object::toString),
                        flows.stream().map(GuestFlow::toString))
                .flatMap(lines -> lines)
                .collect(Collectors.joining("\n"));
    }

    /// All guests at once, and each all of its own at once.
    private Set<GuestFlow> answered(List<GuestFlow> flows, int patience) {
        var bySource =
                flows.stream()
                        .collect(Collectors.groupingBy(flow -> flow.from().vm().orElseThrow()));
        var works = new HashMap<Vm, Callable<Set<GuestFlow>>>();
        bySource.forEach((vm, own) -> works.put(vm, () -> answered(vm, own, patience)));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var answered = new HashSet<GuestFlow>();
            for (var result : threads.invokeAll(works.values())) {
                answered.addAll(result.get());
            }
            return answered;
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Set<GuestFlow> answered(Vm vm, List<GuestFlow> flows, int patience) {
        var script =
                IntStream.range(0, flows.size())
                        .mapToObj(i -> flows.get(i).command(i, patience))
                        .collect(Collectors.joining("", "", "wait"));
        return vm.owner()
                .run(vm.id(), script)
                .lines()
                .map(line -> flows.get(Integer.parseInt(line.split(" ")[0])))
                .collect(Collectors.toSet());
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
