package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.VpcId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// VMs come and go.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FabricIT {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration SHORT = Duration.ofMillis(500);

    private final AccountId account = AccountId.random();
    private Lab lab;

    /// What there is in the hub when there is no VM.
    private String hub;

    @BeforeAll
    void open() {
        lab = new Lab();
        hub = hub(lab);
    }

    @AfterAll
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    void nothingPassesAPortThatIsNotOpen() {
        var vpc = everythingPermitted();
        var guest = Given.member(lab, account, vpc);
        var closed = lab.closedGuest(account, Optional.of(Given.membership(vpc)));
        var flows =
                List.of(
                        Flow.icmp(guest.ipv4(), closed.ipv4()),
                        Flow.icmp(guest.publicIpv6(), closed.publicIpv6()));
        flows.forEach(flow -> assertEquals(new Flow.Silent(), guest.probe().outcome(flow, SHORT)));
        lab.fabric().open(closed.vm());
        flows.forEach(flow -> assertReached(guest, flow.again()));
        lab.leave(guest);
        lab.leave(closed);
    }

    @Test
    void aVmThatIsTakenOutLeavesNothing() {
        var vpc = everythingPermitted();
        var guest = Given.member(lab, account, vpc);
        var before = segment(guest);
        var leaving = Given.member(lab, account, vpc);
        assertReached(leaving, Flow.udp(leaving.ipv4(), 40001, guest.ipv4(), 80));
        assertReached(leaving, Flow.udp(leaving.privateIpv6(), 40001, guest.privateIpv6(), 80));
        assertReached(leaving, Flow.udp(leaving.ipv4(), 40001, Ground.INTERNET, 80));
        var slot = lab.settings().slot(leaving.nic().slot());
        var fromPlatform = Flow.udp(lab.settings().platform(), 40001, slot, 80);
        assertTrue(lab.ground().host().outcome(fromPlatform, PATIENCE) instanceof Flow.Reached);
        lab.leave(leaving);
        assertEquals(before, segment(guest));
        for (var address : leaving.addresses()) {
            assertFalse(connections(guest).contains(address + " "), () -> connections(guest));
        }
        lab.leave(guest);
        assertEquals(List.of(), Script.names(lab.settings().namespace(vpc.text())));
        awaitHub(lab, hub);
    }

    @Test
    void aVmThatComesBackAtOnceFindsNothingInItsWay() {
        var vpc = everythingPermitted();
        for (int i = 0; i < 5; i++) {
            var plug = lab.fabric().plug(stranger(vpc), new Holder.User(0));
            var port = "ip link show %s\n".formatted(plug.tap());
            lab.settings().script().in(lab.settings().namespace(vpc.text()), port);
            lab.fabric().unplug(stranger(vpc).vm());
        }
        awaitHub(lab, hub);
        var guest = Given.member(lab, account, vpc);
        assertReached(guest, Flow.udp(guest.ipv4(), 40001, Ground.INTERNET, 80));
        lab.leave(guest);
        awaitHub(lab, hub);
    }

    @Test
    void aRuleThatNamesAVmIsAboutItsLinkLocalAddressToo() {
        var vpc = Given.vpc(lab, account, "10.8.0.0/24");
        var guest = Given.member(lab, account, vpc);
        var member = Given.member(lab, account, vpc);
        var from = Place.linkLocal(guest.nic());
        var to = Place.linkLocal(member.nic());
        var flow = Flow.tcp(from, 40001, to, 80);
        assertEquals(new Flow.Silent(), guest.probe().outcome(flow, SHORT));
        var rule = Given.permitted(lab, account, Given.vm(guest), Given.vm(member));
        assertReached(guest, flow.again());
        assertReached(guest, Flow.icmp(from, to));
        assertEquals(new Flow.Silent(), member.probe().outcome(Flow.icmp(to, from), SHORT));
        lab.networks().deleteRule(account, rule.id().text());
        Given.permitted(lab, account, Ends.of(vpc), Ends.of(vpc));
        assertReached(member, Flow.icmp(to, from));
        lab.leave(guest);
        lab.leave(member);
    }

    @Test
    void aVmIsReachedAtOnceByTheAddressOfOneThatIsGone() {
        var vpc = everythingPermitted();
        var guest = Given.member(lab, account, vpc);
        for (int i = 0; i < 3; i++) {
            var other = Given.member(lab, account, vpc);
            for (var flow :
                    List.of(
                            Flow.udp(guest.ipv4(), 40001, other.ipv4(), 80),
                            Flow.tcp(guest.ipv4(), 40001, other.ipv4(), 80),
                            Flow.tcp(guest.privateIpv6(), 40001, other.privateIpv6(), 80))) {
                assertReached(guest, flow);
            }
            assertReached(other, Flow.udp(other.ipv4(), 40002, guest.ipv4(), 80));
            assertReached(other, Flow.udp(other.privateIpv6(), 40002, guest.privateIpv6(), 80));
            assertEquals(IpAddress.stored("10.4.0.2"), other.ipv4());
            lab.leave(other);
        }
        lab.leave(guest);
    }

    @Test
    void aVmInheritsNoConnectionsWithTheAddress() {
        var vpc = Given.vpc(lab, account, "10.5.0.0/24");
        var guest = Given.member(lab, account, vpc);
        // Not by its name: the rule stays.
        var rule = Given.permitted(lab, account, Given.range("10.5.0.2/32"), Given.vm(guest));
        var before = Given.member(lab, account, vpc);
        assertReached(before, Flow.udp(before.ipv4(), 40001, guest.ipv4(), 80));
        lab.leave(before);
        var after = Given.member(lab, account, vpc);
        assertEquals(before.ipv4(), after.ipv4());
        after.probe().watch();
        var answer = new Frame.Path(guest.ipv4(), after.ipv4()).udp(80, 40001, "late");
        guest.probe().send(new Frame.Link(guest.nic().mac(), after.nic().mac()).ip(answer));
        assertReached(after, Flow.udp(after.ipv4(), 40002, guest.ipv4(), 80));
        assertEquals(
                List.of(),
                after.probe().heard().stream().filter(frame -> frame.contains("late")).toList());
        lab.networks().deleteRule(account, rule.id().text());
        lab.leave(guest);
        lab.leave(after);
    }

    @Test
    void aPortThatCannotBeMadeLeavesNothing() {
        var vpc = everythingPermitted();
        assertThrows(Failure.class, () -> plugIntoNothing(vpc));
        assertEquals(List.of(), Script.names(lab.settings().namespace(vpc.text())));
        var guest = Given.member(lab, account, vpc);
        var before = segment(guest);
        assertThrows(Failure.class, () -> plugIntoNothing(vpc));
        assertEquals(before, segment(guest));
        lab.leave(guest);
        awaitHub(lab, hub);
    }

    @Test
    void aPortThatCannotBeReachedLeavesNothing() {
        try (var own = new Lab()) {
            var vpc = Given.vpc(own, account, "10.4.0.0/24");
            var guest = Given.member(own, account, vpc);
            var namespace = own.settings().namespace(vpc.text());
            var before = Given.shown(namespace);
            var hub = own.settings().namespace(Hub.NAME);
            new Script(Optional.empty())
                    .in(hub, "ip link set v%s down\n".formatted(vpc.text().substring(4, 18)));
            assertThrows(Failure.class, () -> Given.member(own, account, vpc));
            assertEquals(ofPorts(before), ofPorts(Given.shown(namespace)));
            assertEquals(1, own.guests().size());
            assertEquals(guest, own.guests().getFirst());
        }
    }

    @Test
    void aReadyVmThatCannotMoveIntoItsNetworkLeavesNothing() {
        try (var own = new Lab()) {
            var vpc = Given.vpc(own, account, "10.4.0.0/24");
            Given.member(own, account, vpc);
            var namespace = own.settings().namespace(vpc.text());
            var before = ofPorts(Given.shown(namespace));
            var hub = own.settings().namespace(Hub.NAME);
            var veth = "v" + vpc.text().substring(4, 18);
            for (var cut : List.of(hub + " " + veth, namespace + " br0")) {
                var words = cut.split(" ");
                var vm = new MemberId("vm-00000000000000000000");
                var ready = new Nic(vm, account, 9, Optional.empty(), Optional.empty());
                own.fabric().plug(ready, new Holder.User(0));
                new Script(Optional.empty()).in(words[0], "ip link set " + words[1] + " name x\n");
                var address = Optional.of(IpAddress.stored("10.4.0.200"));
                var place = new Membership(vpc, address, Optional.empty(), List.of());
                var nic = new Nic(vm, account, 9, Optional.empty(), Optional.of(place));
                assertThrows(Failure.class, () -> own.fabric().handOver(nic, new Holder.User(0)));
                new Script(Optional.empty()).in(words[0], "ip link set x name " + words[1] + "\n");
                own.fabric().unplug(vm);
                assertEquals(before, ofPorts(Given.shown(namespace)));
                assertEquals(List.of(), Script.names(own.settings().namespace("vm-")));
            }
        }
    }

    private void plugIntoNothing(VpcId vpc) {
        lab.fabric().plug(stranger(vpc), new Holder.Namespace("lab-nobody"));
    }

    /// A VM that the model does not know.
    private Nic stranger(VpcId vpc) {
        return new Nic(
                new MemberId("vm-00000000000000000000"),
                account,
                60000,
                lab.networks().publicIpv6(60000),
                Optional.of(
                        new Membership(
                                vpc,
                                Optional.of(IpAddress.stored("10.4.0.200")),
                                Optional.empty(),
                                List.of())));
    }

    @Test
    void noChangeIsMissedWhileAVmIsPluggedIn() throws InterruptedException {
        var vpc = Given.vpc(lab, account, "10.7.0.0/24");
        for (int i = 0; i < 10; i++) {
            int moments = i;
            var change =
                    Thread.startVirtualThread(
                            () -> {
                                for (int n = 0; n < moments; n++) {
                                    Wait.moment();
                                }
                                var end = Given.range("10.7.0.0/24");
                                var port = Given.at(end, Protocol.TCP, 1000 + moments);
                                Given.permitted(lab, account, end, port);
                            });
            var guest = lab.closedGuest(account, Optional.of(Given.membership(vpc)));
            change.join();
            var heard = segment(guest);
            lab.fabric().sweep();
            assertEquals(segment(guest), heard);
            lab.leave(guest);
        }
    }

    @Test
    void manyComeAndGoAtOnce() throws Exception {
        try (var own = new Lab();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var hub = own.settings().namespace(Hub.NAME);
            var before = hub(own);
            var vpc = Given.vpc(own, account, "10.4.0.0/24");
            var comings =
                    Stream.generate(() -> threads.submit(() -> comeAndGo(own, vpc)))
                            .limit(4)
                            .toList();
            for (var coming : comings) {
                coming.get();
            }
            assertEquals(List.of(hub), Script.names(own.settings().namespace("")));
            awaitHub(own, before);
        }
    }

    private void comeAndGo(Lab own, VpcId vpc) {
        for (int n = 0; n < 2; n++) {
            var guest = own.closedGuest(account, Optional.of(Given.membership(vpc)));
            own.fabric().open(guest.vm());
            Given.permitted(own, account, Ends.of(guest.vm()), Ends.of(vpc));
            own.leave(guest);
        }
    }

    private VpcId everythingPermitted() {
        var here = Ends.rule(Matcher.BARE, Matcher.BARE);
        return Given.vpc(
                lab, account, "10.4.0.0/24", here, Ends.rule(Matcher.BARE, Matcher.INTERNET));
    }

    /// What there is of a VM's network, except for what its rules call themselves.
    private String segment(Guest guest) {
        return withoutGeneration(
                Given.shown(lab.settings().namespace(Place.of(guest.nic()).name())));
    }

    private static List<String> ofPorts(String shown) {
        return withoutGeneration(shown).lines().filter(line -> !line.contains("up0")).toList();
    }

    private static String withoutGeneration(String shown) {
        return shown.replaceAll("0x[0-9a-f]{8}\\b", "GENERATION");
    }

    private static String hub(Lab lab) {
        return Given.shown(lab.settings().namespace(Hub.NAME));
    }

    /// The devices of a namespace go soon after its name.
    private static void awaitHub(Lab lab, String expected) {
        Wait.until(PATIENCE, () -> hub(lab).equals(expected), () -> "in the hub: " + hub(lab));
    }

    private String connections(Guest guest) {
        var namespace = lab.settings().namespace(Place.of(guest.nic()).name());
        return Lab.shown(namespace, "conntrack", "-L")
                + Lab.shown(namespace, "conntrack", "-L", "-f", "ipv6");
    }

    private static void assertReached(Guest from, Flow flow) {
        var outcome = from.probe().outcome(flow, PATIENCE);
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }
}
