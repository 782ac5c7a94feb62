package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressesTest {
    private static final AccountId ACCOUNT = AccountId.random();
    private static final Wanted ANY = new Wanted.Any();

    /// Everything but itself is in this network.
    private AccountNetworks networks = AccountNetworks.NONE;

    private final Vpc vpc = vpc("10.20.30.0/28");

    private static Vpc vpc(String cidr) {
        return new Vpc(
                VpcId.random(),
                ACCOUNT,
                Cidr.stored(cidr),
                Cidr.stored("fd00:1:2:3::/64"),
                Optional.empty(),
                Optional.empty(),
                Instant.EPOCH);
    }

    private String pick(boolean isV6, Wanted wanted) {
        return new Addresses(networks, vpc)
                .pick("ipv4", isV6, wanted)
                .map(Object::toString)
                .orElse("none");
    }

    private String join(boolean isV6) {
        var picked = pick(isV6, ANY);
        hold(picked);
        return picked;
    }

    /// A member with this address alone.
    private void hold(String text) {
        var address = Optional.of(IpAddress.stored(text));
        var place =
                new Membership(
                        vpc.id(),
                        address.filter(a -> !a.isV6()),
                        address.filter(IpAddress::isV6),
                        List.of());
        networks =
                networks.with(
                        new Nic(
                                GivenNetworks.member(),
                                ACCOUNT,
                                1,
                                Optional.empty(),
                                Optional.of(place)));
    }

    private void attach(Optional<String> ipv4, String... remote) {
        var tunnel = GivenNetworks.tunnel(ACCOUNT, "t" + networks.tunnels().size());
        var attachment =
                new Attachment(
                        vpc.id(),
                        vpc.cidr(),
                        vpc.cidrV6(),
                        ipv4.map(IpAddress::stored),
                        Optional.empty(),
                        Stream.of(remote).map(Cidr::stored).toList(),
                        false,
                        Instant.EPOCH);
        networks =
                networks.with(
                        new Tunnel(
                                tunnel.id(),
                                ACCOUNT,
                                networks.tunnels().size(),
                                tunnel.slug(),
                                tunnel.displayName(),
                                tunnel.clientKey(),
                                tunnel.routes(),
                                List.of(attachment),
                                tunnel.createdAt(),
                                tunnel.updatedAt()));
    }

    private void assertRefused(Code code, boolean isV6, Wanted wanted) {
        var failure = assertThrows(Failure.class, () -> pick(isV6, wanted));
        assertEquals(code, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().startsWith("ipv4: "), failure.getMessage());
    }

    private static Wanted exactly(String text) {
        return new Wanted.Exactly(IpAddress.stored(text));
    }

    @Test
    void membersGetTheLowestAddressesUntilAllButTheFirstAndLastAreHeld() {
        for (int i = 1; i <= 14; i++) {
            assertEquals("10.20.30." + i, join(false));
        }
        assertRefused(Code.CONFLICT, false, ANY);
        assertEquals("none", pick(false, new Wanted.None()));
        assertEquals("fd00:1:2:3::2", join(true));
        assertEquals("fd00:1:2:3::3", join(true));
    }

    @Test
    void anAddressThatIsFreeAgainIsTheLowest() {
        hold("10.20.30.1");
        hold("10.20.30.3");
        assertEquals("10.20.30.2", join(false));
        assertEquals("10.20.30.4", join(false));
    }

    @Test
    void rangesThatAreRoutedToTunnelsAreNotGivenOut() {
        attach(Optional.empty(), "10.20.30.0/30", "10.20.30.8/29", "192.0.2.0/24");
        assertEquals("10.20.30.4", join(false));
        hold("10.20.30.5");
        hold("10.20.30.6");
        assertEquals("10.20.30.7", join(false));
        assertRefused(Code.CONFLICT, false, ANY);
        assertRefused(Code.CONFLICT, false, exactly("10.20.30.9"));
        attach(Optional.empty(), "fd00:1:2:3::/80");
        assertEquals("fd00:1:2:3:1::", pick(true, ANY));
    }

    @Test
    void theAddressesOfTunnelsAreHeld() {
        attach(Optional.of("10.20.30.1"));
        assertEquals("10.20.30.2", pick(false, ANY));
        assertRefused(Code.CONFLICT, false, exactly("10.20.30.1"));
    }

    @Test
    void anAddressOfOneOwnWishIsGivenIfItIsFree() {
        assertEquals("10.20.30.9", pick(false, exactly("10.20.30.9")));
        assertEquals("fd00:1:2:3::9", pick(true, exactly("fd00:1:2:3::9")));
        hold("10.20.30.9");
        assertRefused(Code.CONFLICT, false, exactly("10.20.30.9"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.20.30.0",
                "10.20.30.15",
                "10.20.30.16",
                "10.20.29.255",
                "8.8.8.8",
                "fd00:1:2:3::",
                "fd00:1:2:3::1",
                "fd00:1:2:4::2"
            })
    void anAddressThatNoMemberCanHaveIsABadRequest(String text) {
        assertRefused(Code.BAD_REQUEST, text.contains(":"), exactly(text));
    }

    @Test
    void aRangeIsFreeWhenNothingInItIsHeldOrRouted() {
        hold("10.20.30.9");
        attach(Optional.of("10.20.30.2"), "10.20.30.4/30");
        var addresses = new Addresses(networks, vpc);
        assertTrue(addresses.isFree(Cidr.stored("10.20.30.12/30")));
        assertTrue(addresses.isFree(Cidr.stored("fd00:1:2:3::/65")));
        for (var taken :
                List.of("10.20.30.8/30", "10.20.30.2/32", "10.20.30.5/32", "10.20.30.0/29")) {
            assertFalse(addresses.isFree(Cidr.stored(taken)), taken);
        }
    }

    @Test
    void whatOtherNetworksHoldDoesNotMatter() {
        var other = vpc("10.20.30.0/28");
        hold("10.20.30.1");
        assertEquals(
                Optional.of(IpAddress.stored("10.20.30.1")),
                new Addresses(networks, other).pick("ipv4", false, ANY));
    }

    @Test
    void randomHoldersLeaveTheLowestThatIsInNoList() {
        var random = Seed.random(AddressesTest.class);
        for (int round = 0; round < 300; round++) {
            networks = AccountNetworks.NONE;
            var free = new TreeSet<Integer>();
            for (int i = 1; i < 15; i++) {
                free.add(i);
            }
            for (int last : random.ints(random.nextInt(16), 1, 15).toArray()) {
                hold("10.20.30." + last);
                free.remove(last);
            }
            var granted = new ArrayList<String>();
            for (int from : random.ints(random.nextInt(3), 0, 8).map(i -> i * 2).toArray()) {
                granted.add("10.20.30.%d/31".formatted(from));
                free.removeAll(List.of(from, from + 1));
            }
            attach(Optional.empty(), granted.toArray(String[]::new));
            if (free.isEmpty()) {
                assertRefused(Code.CONFLICT, false, ANY);
            } else {
                assertEquals("10.20.30." + free.first(), pick(false, ANY));
            }
        }
    }
}
