package coppice.network;

import static coppice.network.GivenTunnels.at;
import static coppice.network.GivenTunnels.in;
import static coppice.network.GivenTunnels.ranges;
import static coppice.network.GivenTunnels.refuses;
import static coppice.network.GivenTunnels.wanted;
import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Code;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ranges behind the client that a network routes to its tunnel.
class RemoteRangesTest {
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
    void aRangeInsideOfTheNetworkIsTakenOutOfAllocation() {
        tunnels.attach(ada, "office", in("backend", "10.20.30.0/30", V6 + "/125"));
        var place = tunnels.get(ada, "office").attachments().getFirst();
        assertEquals(Optional.of(IpAddress.stored("10.20.30.4")), place.ipv4());
        assertEquals(Optional.of(IpAddress.stored(V6 + "8")), place.ipv6());
        var vm = given.vm("vm-1", backend).membership().orElseThrow();
        assertEquals(Optional.of(IpAddress.stored("10.20.30.5")), vm.ipv4());
        assertEquals(Optional.of(IpAddress.stored(V6 + "9")), vm.ipv6());
    }

    @Test
    void aRangeInsideOfTheNetworkMustBeFree() {
        given.vm("vm-1", backend);
        given.tunnel("home");
        tunnels.attach(ada, "home", at("10.20.30.200", "10.20.30.64/26"));
        for (var range :
                List.of(
                        "10.20.30.0/30",
                        "10.20.30.1/32",
                        "10.20.30.200/32",
                        "10.20.30.192/26",
                        "10.20.30.64/27",
                        "10.20.30.64/26",
                        "10.20.30.0/24",
                        V6 + "/126")) {
            refuses(
                    Code.CONFLICT,
                    "remoteCidrs[1]: ",
                    () -> tunnels.attach(ada, "office", in("backend", "10.99.0.0/16", range)));
        }
        tunnels.attach(ada, "office", in("backend", "10.20.30.128/26", V6 + "8/125"));
    }

    @Test
    void aTunnelHasNoAddressInItsOwnRange() {
        refuses(
                Code.CONFLICT,
                "ipv4: ",
                () -> tunnels.attach(ada, "office", at("10.20.30.9", "10.20.30.8/29")));
        refuses(
                Code.CONFLICT,
                "ipv4: ",
                () -> tunnels.attach(ada, "office", in("backend", "10.20.30.0/24")));
        var place = tunnels.attach(ada, "office", at(V6 + "9", "10.20.30.0/24"));
        assertEquals(1, place.attachments().size());
        refuses(Code.CONFLICT, "ipv4: ", () -> tunnels.create(ada, wanted("home", in("backend"))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.20.0.0/16", "10.20.30.0/23", "0.0.0.0/0", "fd3a::/16", "::/0"})
    void aRangeThatIsPartlyInTheNetworkIsRefused(String range) {
        refuses(
                Code.BAD_REQUEST,
                "remoteCidrs[1]: ",
                () -> tunnels.attach(ada, "office", in("backend", "10.99.0.0/16", range)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.99.0.0/16", "10.99.7.0/24", "10.0.0.0/12", "10.96.0.0/13"})
    void aRangeThatAnotherTunnelHasHereIsAConflict(String range) {
        given.tunnel("home");
        tunnels.attach(ada, "home", in("backend", "10.99.0.0/16", "10.1.0.0/16"));
        refuses(
                Code.CONFLICT,
                "remoteCidrs[0]: ",
                () -> tunnels.attach(ada, "office", in("backend", range)));
        given.network("other", "10.20.31.0/24");
        tunnels.attach(ada, "office", in("other", range));
    }

    @Test
    void aTunnelsOwnRangesMayOverlapAndTheSameOneCountsOnce() {
        var tunnel =
                tunnels.attach(
                        ada,
                        "office",
                        in("backend", "10.99.0.0/16", "10.99.7.0/24", "10.99.0.0/16"));
        assertEquals(
                ranges("10.99.0.0/16", "10.99.7.0/24"), tunnel.attachments().getFirst().remote());
    }

    @Test
    void thereAreAtMostSixteenRanges() {
        var ranges = IntStream.range(0, 17).mapToObj("10.%d.0.0/24"::formatted).toList();
        refuses(
                Code.BAD_REQUEST,
                "remoteCidrs: ",
                () -> in("backend", ranges.toArray(String[]::new)));
        tunnels.attach(ada, "office", in("backend", ranges.subList(0, 16).toArray(String[]::new)));
    }
}
