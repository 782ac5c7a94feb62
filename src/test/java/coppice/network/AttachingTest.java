package coppice.network;

import static coppice.network.GivenTunnels.at;
import static coppice.network.GivenTunnels.in;
import static coppice.network.GivenTunnels.ranges;
import static coppice.network.GivenTunnels.refuses;
import static coppice.network.GivenTunnels.wanted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AttachingTest {
    private static final String V6 = "fd3a:91c2:7b04:1::";

    @TempDir private Path directory;
    private GivenTunnels given;
    private Tunnels tunnels;
    private AccountId ada;
    private Vpc backend;

    @BeforeEach
    void open() {
        given = new GivenTunnels(directory);
        tunnels = given.tunnels();
        ada = given.ada();
        backend = given.network(ada, "backend", "10.20.30.0/24", Optional.of(V6 + "/64"));
        given.tunnel("office");
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void anAttachmentHasTheLowestFreeAddressOfEachFamily() {
        var vm = given.vm("vm-1", backend).membership().orElseThrow();
        given.pass(Duration.ofMinutes(1));
        var tunnel = tunnels.attach(ada, "office", in("backend"));
        var place = tunnel.attachments().getFirst();
        assertEquals(vm.ipv4().map(address -> address.plus(1)), place.ipv4());
        assertEquals(vm.ipv6().map(address -> address.plus(1)), place.ipv6());
        assertEquals(Optional.of(IpAddress.stored("10.20.30.2")), place.ipv4());
        assertEquals(Optional.of(IpAddress.stored(V6 + "3")), place.ipv6());
        assertEquals(List.of(backend.cidr(), backend.cidrV6()), place.ranges().toList());
        assertEquals(List.of(), place.remote());
        assertEquals(false, place.isExit());
        assertEquals(tunnel.createdAt().plusSeconds(60), place.createdAt());
        assertEquals(place.createdAt(), tunnel.updatedAt());
        assertEquals(tunnel, tunnels.get(ada, "office"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.20.30.1", "10.20.30.254", V6 + "2", V6 + "ffff"})
    void anAddressThatIsWantedIsTheOnlyOne(String address) {
        var place = tunnels.attach(ada, "office", at(address)).attachments().getFirst();
        assertEquals(List.of(IpAddress.stored(address)), place.addresses().toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.20.30.0",
                "10.20.30.255",
                "10.20.31.1",
                V6,
                V6 + "1",
                "fd3a:91c2:7b04:2::2",
                "::ffff:10.20.30.9"
            })
    void anAddressThatNoMemberCanHaveIsRefused(String address) {
        refuses(Code.BAD_REQUEST, "ipv", () -> tunnels.attach(ada, "office", at(address)));
    }

    @Test
    void anAddressThatIsHeldIsAConflict() {
        given.vm("vm-1", backend);
        given.tunnel("home");
        tunnels.attach(ada, "home", in("backend", "10.20.30.128/25", "fd3a:91c2:7b04:1:1::/80"));
        for (var address :
                List.of(
                        "10.20.30.1",
                        "10.20.30.2",
                        "10.20.30.200",
                        V6 + "2",
                        V6 + "3",
                        "fd3a:91c2:7b04:1:1::9")) {
            refuses(Code.CONFLICT, "ipv", () -> tunnels.attach(ada, "office", at(address)));
        }
        assertEquals(List.of(), tunnels.get(ada, "office").attachments());
    }

    @ParameterizedTest
    @CsvSource({
        "192.168.7.0/24, fd00:7::/64",
        "10.7.0.0/24, fc00:7::/64",
        "10.7.0.0/24, fd00:7::/64"
    })
    void bothRangesOfANetworkMustLieInTheRoutes(String cidr, String cidrV6) {
        given.network(ada, "other", cidr, Optional.of(cidrV6));
        boolean isRouted = cidr.startsWith("10.") && cidrV6.startsWith("fd");
        if (isRouted) {
            tunnels.attach(ada, "office", in("other"));
        } else {
            refuses(Code.BAD_REQUEST, "vpcId: ", () -> tunnels.attach(ada, "office", in("other")));
        }
        assertEquals(isRouted ? 1 : 0, tunnels.get(ada, "office").attachments().size());
    }

    @Test
    void aNetworkOutsideOfTheUsualRoutesIsReachedByATunnelWithOthers() {
        given.network(ada, "home", "192.168.7.0/24", Optional.of("fd00:7::/64"));
        var routes = ranges("192.168.0.0/16", "fd00:7::/64");
        var wanted =
                new NewTunnel(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        routes,
                        List.of(in("home")));
        assertEquals(1, tunnels.create(ada, wanted).tunnel().attachments().size());
    }

    @Test
    void aNetworkIsAttachedOnce() {
        tunnels.attach(ada, "office", in("backend"));
        for (var name : List.of("backend", backend.id().text())) {
            refuses(
                    Code.CONFLICT,
                    "vpcId: the tunnel is attached",
                    () -> tunnels.attach(ada, "office", in(name)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "10.20.30.0/24, fd00:7::/64",
        "10.20.0.0/16, fd00:7::/64",
        "10.20.30.128/28, fd00:7::/64",
        "10.21.0.0/16, fd3a:91c2:7b04:1::/64"
    })
    void networksThatOverlapShareNoTunnel(String cidr, String cidrV6) {
        given.network(ada, "other", cidr, Optional.of(cidrV6));
        tunnels.attach(ada, "office", in("backend"));
        refuses(Code.CONFLICT, "vpcId: ", () -> tunnels.attach(ada, "office", in("other")));
        given.tunnel("home");
        tunnels.attach(ada, "home", in("other"));
    }

    @Test
    void aNetworkMayHaveSeveralExits() {
        for (var slug : List.of("a", "b")) {
            given.tunnel(slug);
            var exit =
                    new NewAttachment(
                            "", "backend", new Wanted.Any(), new Wanted.Any(), List.of(), true);
            assertTrue(tunnels.attach(ada, slug, exit).attachments().getFirst().isExit());
        }
    }

    @Test
    void aDetachmentReleasesAddressesAndRanges() {
        tunnels.attach(ada, "office", in("backend", "10.20.30.128/25", "10.99.0.0/16"));
        given.pass(Duration.ofMinutes(1));
        var detached = tunnels.detach(ada, "office", "backend");
        assertEquals(List.of(), detached.attachments());
        assertEquals(detached.createdAt().plusSeconds(60), detached.updatedAt());
        given.tunnel("home");
        tunnels.attach(ada, "home", at("10.20.30.1", "10.20.30.128/25", "10.99.0.0/16"));
    }

    @Test
    void aTunnelThatIsNotAttachedCannotBeDetached() {
        refuses(Code.NOT_FOUND, "", () -> tunnels.detach(ada, "office", "backend"));
        refuses(Code.NOT_FOUND, "", () -> tunnels.detach(ada, "office", "nothing"));
        refuses(Code.NOT_FOUND, "", () -> tunnels.detach(ada, "nothing", "backend"));
    }

    @Test
    void aDeletedTunnelFreesItsAddressesAndRanges() {
        var place = tunnels.attach(ada, "office", in("backend", "10.20.30.128/25"));
        tunnels.delete(ada, "office");
        given.tunnel("home");
        var next = tunnels.attach(ada, "home", in("backend", "10.20.30.128/25"));
        assertEquals(
                place.attachments().getFirst().addresses().toList(),
                next.attachments().getFirst().addresses().toList());
    }

    @Test
    void aDeletedNetworkDetachesItsTunnels() {
        given.network("other", "10.20.31.0/24");
        tunnels.attach(ada, "office", in("backend"));
        tunnels.attach(ada, "office", in("other"));
        given.networks().deleteVpc(ada, "backend");
        var left = tunnels.get(ada, "office").attachments();
        assertEquals(
                List.of(Cidr.stored("10.20.31.0/24")), left.stream().map(a -> a.cidr()).toList());
        given.reopen();
        assertEquals(left, given.tunnels().get(ada, "office").attachments());
    }

    @Test
    void attachmentsAreOldestFirst() {
        var expected = new ArrayList<VpcId>();
        for (int n = 9; n > 3; n--) {
            expected.add(given.network("n" + n, "10.%d.0.0/24".formatted(n)).id());
            tunnels.attach(ada, "office", in("n" + n));
            given.pass(Duration.ofMillis(1));
        }
        assertEquals(expected, attached());
        given.reopen();
        assertEquals(expected, attached());
    }

    private List<VpcId> attached() {
        return given.tunnels().get(ada, "office").attachments().stream()
                .map(Attachment::vpc)
                .toList();
    }

    @Test
    void aTunnelIsCreatedWithAllItsAttachmentsOrNotAtAll() {
        given.network("other", "10.20.31.0/24");
        given.network("wide", "10.20.0.0/16");
        given.network("home", "192.168.7.0/24");
        given.vm("vm-1", backend);
        // What is absent comes before what is wrong, and that before what is in the way.
        refusesToCreate(Code.NOT_FOUND, "vpcs[2].vpcId: ", in("backend"), in("home"), in("nil"));
        refusesToCreate(Code.BAD_REQUEST, "vpcs[2].vpcId: ", in("other"), in("wide"), in("home"));
        refusesToCreate(Code.BAD_REQUEST, "vpcs[1].vpcId: ", in("backend"), in("backend"));
        refusesToCreate(
                Code.BAD_REQUEST, "vpcs[1].vpcId: ", in("backend"), in(backend.id().text()));
        refusesToCreate(Code.BAD_REQUEST, "vpcs[1].ipv4: ", in("other"), at("10.20.30.0"));
        refusesToCreate(Code.CONFLICT, "vpcs[1].ipv4: ", in("other"), at("10.20.30.1"));
        refusesToCreate(Code.CONFLICT, "vpcs[1].vpcId: ", in("other"), in("wide"));
        refusesToCreate(
                Code.CONFLICT,
                "vpcs[1].remoteCidrs[0]: ",
                in("other"),
                in("backend", "10.20.30.0/30"));
        assertEquals(1, tunnels.list(ada).size());
        var made = tunnels.create(ada, wanted("home", in("other"), in("backend"))).tunnel();
        assertEquals(2, made.attachments().size());
    }

    private void refusesToCreate(Code code, String start, NewAttachment... places) {
        var placed = new ArrayList<NewAttachment>();
        for (var place : places) {
            placed.add(
                    new NewAttachment(
                            "vpcs[%d].".formatted(placed.size()),
                            place.vpc(),
                            place.ipv4(),
                            place.ipv6(),
                            place.remote(),
                            place.isExit()));
        }
        var wanted = wanted("home", placed.toArray(NewAttachment[]::new));
        refuses(code, start, () -> tunnels.create(ada, wanted));
    }

    @Test
    void aNetworkOfAnotherAccountIsAbsent() {
        given.network(given.bob(), "his", "10.7.0.0/24", Optional.empty());
        refuses(
                Code.NOT_FOUND,
                "vpcId: there is no network his",
                () -> tunnels.attach(ada, "office", in("his")));
    }

    @Test
    void listenersHearOfEveryChangeWhenItCanBeRead() {
        var heard = new ArrayList<Tunnel>();
        given.networks()
                .listen(
                        (account, before, after) -> {
                            assertEquals(ada, account);
                            assertEquals(after, given.networks().of(ada));
                            heard.addAll(after.tunnels().values());
                        });
        var attached = tunnels.attach(ada, "office", in("backend"));
        var rotated = tunnels.rotateKey(ada, "office", Optional.empty()).tunnel();
        var detached = tunnels.detach(ada, "office", "backend");
        tunnels.delete(ada, "office");
        assertEquals(List.of(attached, rotated, detached), heard);
    }
}
