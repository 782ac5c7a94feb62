package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NetworksTest {
    private static final AccountId ADA = AccountId.random();
    private static final AccountId BOB = AccountId.random();
    private static final Cidr HOST = Cidr.stored("2600:db8:10::/64");
    private static final NetworkLimits FEW = new NetworkLimits(5, 3, 3, Optional.of(HOST));

    @TempDir private Path directory;
    private GivenNetworks given;

    private Networks open(NetworkLimits limits) {
        given = new GivenNetworks(directory, limits);
        return given.networks();
    }

    @AfterEach
    void close() {
        given.close();
    }

    private static void assertRefused(Code code, Executable act) {
        assertEquals(code, assertThrows(Failure.class, act).code());
    }

    private void publicRule(Matcher destination) {
        given.networks().createRule(ADA, Ends.rule(Matcher.INTERNET, destination));
    }

    @Test
    void aVmThatLeavesFreesItsAddressesAndTakesItsRulesAlong() {
        var networks = open(NetworkLimits.USUAL);
        var vpc = given.vpc(ADA, "net");
        var one = given.memberOf(ADA, vpc);
        var other = given.memberOf(ADA, vpc);
        publicRule(Ends.of(one));
        networks.createRule(ADA, Ends.rule(Ends.of(one), Ends.of(other)));
        publicRule(Ends.of(other));
        var first = networks.of(ADA).nic(one).orElseThrow();
        given.leave(ADA, one);
        assertEquals(Optional.empty(), networks.of(ADA).nic(one));
        assertEquals(List.of(Ends.of(other)), destinations());
        var newcomer = given.memberOf(ADA, vpc);
        var next = networks.of(ADA).nic(newcomer).orElseThrow();
        assertEquals(first.membership(), next.membership());
        assertFalse(first.mac().equals(next.mac()));
        given.leave(ADA, one);
        given.requireKept(ADA, BOB);
    }

    private List<Matcher> destinations() {
        return given.networks().of(ADA).rules().stream().map(Rule::destination).toList();
    }

    @Test
    void aVmHasAPublicAddressOfItsOwnWhereTheHostHasARange() {
        var networks = open(FEW);
        var one = given.join(ADA, GivenNetworks.member(), Optional.empty()).nic();
        var other = given.join(BOB, GivenNetworks.member(), Optional.empty()).nic();
        assertTrue(HOST.contains(one.publicIpv6().orElseThrow()));
        assertFalse(one.publicIpv6().equals(other.publicIpv6()));
        given.reopen();
        var later = given.join(ADA, GivenNetworks.member(), Optional.empty()).nic();
        assertFalse(one.publicIpv6().equals(later.publicIpv6()));
        assertFalse(other.publicIpv6().equals(later.publicIpv6()));
        assertTrue(networks.isPublic(one.publicIpv6().orElseThrow()));
    }

    @Test
    void theRangeOfThisHostIsPublicWhateverItIs() {
        var range = Cidr.stored("fd77::/64");
        var networks = open(new NetworkLimits(1, 1, 1, Optional.of(range)));
        assertTrue(networks.isPublic(range.first().plus(5)));
        assertFalse(networks.isPublic(range.last().plus(1)));
        assertTrue(networks.isPublic(IpAddress.stored("9.9.9.9")));
        assertFalse(networks.isPublic(IpAddress.stored("10.0.0.1")));
    }

    @Test
    void aNetworkThatIsDeletedTakesTheRulesThatNameItAlong() {
        var networks = open(NetworkLimits.USUAL);
        var vpc = given.vpc(ADA, "net");
        var other = given.vpc(ADA, "other");
        publicRule(Ends.of(vpc.id()));
        networks.createRule(ADA, Ends.rule(Ends.of(vpc.id()), Ends.of(other.id())));
        publicRule(Ends.of(other.id()));
        networks.deleteVpc(ADA, "net");
        assertEquals(List.of(Ends.of(other.id())), destinations());
        assertRefused(Code.NOT_FOUND, () -> networks.deleteVpc(ADA, vpc.id().text()));
        assertEquals("net", given.vpc(ADA, "net").slug().orElseThrow().text());
        given.requireKept(ADA, BOB);
    }

    @Test
    void aNetworkWithAMemberStays() {
        var networks = open(NetworkLimits.USUAL);
        var member = given.memberOf(ADA, given.vpc(ADA, "net"));
        assertRefused(Code.CONFLICT, () -> networks.deleteVpc(ADA, "net"));
        assertTrue(networks.vpc(ADA, "net").isPresent());
        given.leave(ADA, member);
        networks.deleteVpc(ADA, "net");
        given.requireKept(ADA, BOB);
    }

    @Test
    void aTunnelThatIsDeletedTakesTheRulesThatNameItAlong() {
        open(NetworkLimits.USUAL);
        var tunnel = GivenNetworks.tunnel(ADA, "home");
        var left = GivenNetworks.rule(ADA, Ends.rule(Matcher.INTERNET, Ends.of(HOST)));
        var before =
                GivenNetworks.with(AccountNetworks.NONE, tunnel)
                        .with(
                                List.of(
                                        left,
                                        GivenNetworks.rule(
                                                ADA,
                                                Ends.rule(Ends.of(tunnel.id()), Matcher.INTERNET)),
                                        GivenNetworks.rule(
                                                ADA,
                                                Ends.rule(
                                                        Matcher.INTERNET, Ends.of(tunnel.id())))));
        var after = before.without(new Named.Passage(tunnel.id()));
        assertEquals(List.of(left), after.rules());
        assertEquals(Optional.empty(), after.tunnel("home"));
    }

    @Test
    void aNetworkGetsRangesThatTheAccountDoesNotUse() {
        var networks = open(new NetworkLimits(1, 300, 1, Optional.empty()));
        var big = GivenNetworks.wanted(Optional.empty(), Optional.of("10.128.0.0/16"));
        networks.createVpc(ADA, big);
        for (int i = 0; i < 200; i++) {
            given.vpc(ADA, "net-" + i);
        }
        var ranges = networks.of(ADA).vpcs().values().stream().map(Vpc::cidr).toList();
        for (int i = 0; i < ranges.size(); i++) {
            var range = ranges.get(i);
            assertTrue(Cidr.stored("10.0.0.0/8").contains(range), range::toString);
            assertTrue(
                    ranges.subList(i + 1, ranges.size()).stream().noneMatch(range::overlaps),
                    ranges::toString);
        }
        for (var vpc : networks.of(ADA).vpcs().values()) {
            assertTrue(Cidr.stored("fd00::/8").contains(vpc.cidrV6()), vpc.cidrV6()::toString);
            assertEquals(64, vpc.cidrV6().prefix());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/16", "172.31.0.0/16", "192.168.77.16/28"})
    void aPrivateRangeOf16To28BitsIsAllowedMoreThanOnce(String cidr) {
        var networks = open(NetworkLimits.USUAL);
        for (int i = 0; i < 2; i++) {
            var wanted = GivenNetworks.wanted(Optional.empty(), Optional.of(cidr));
            assertEquals(cidr, networks.createVpc(ADA, wanted).vpc().cidr().toString());
        }
    }

    @Test
    void aSlugIsHeldOncePerAccountUntilItIsGivenUp() {
        var networks = open(NetworkLimits.USUAL);
        var vpc = given.vpc(ADA, "net");
        given.vpc(BOB, "net");
        assertRefused(Code.CONFLICT, () -> given.vpc(ADA, "net"));
        var other = given.vpc(ADA, "other");
        assertRefused(Code.CONFLICT, () -> rename(other, "net"));
        assertEquals(vpc, rename(vpc, "net"));
        rename(vpc, "new");
        assertEquals(other.id(), rename(other, "net").id());
        assertEquals(Optional.of(other.id()), networks.vpc(ADA, "net").map(Vpc::id));
        given.requireKept(ADA, BOB);
    }

    private Vpc rename(Vpc vpc, String slug) {
        return given.networks()
                .updateVpc(
                        ADA,
                        vpc.id().text(),
                        before -> before.with(Optional.of(new Slug(slug)), before.displayName()));
    }

    @Test
    void whatAnotherAccountHasIsAbsent() {
        var networks = open(NetworkLimits.USUAL);
        var vpc = given.vpc(ADA, "net");
        var rule = networks.createRule(ADA, Ends.rule(Ends.of(vpc.id()), Matcher.INTERNET));
        for (var name : List.of("net", vpc.id().text())) {
            assertEquals(Optional.empty(), networks.vpc(BOB, name));
            assertRefused(Code.NOT_FOUND, () -> networks.requireVpc(BOB, name));
            assertRefused(Code.NOT_FOUND, () -> networks.deleteVpc(BOB, name));
            assertRefused(Code.NOT_FOUND, () -> networks.updateVpc(BOB, name, before -> before));
        }
        assertRefused(Code.NOT_FOUND, () -> networks.rule(BOB, rule.id().text()));
        assertRefused(Code.NOT_FOUND, () -> networks.deleteRule(BOB, rule.id().text()));
        for (var end : List.of(Ends.of(vpc.id()), Ends.of(TunnelId.random()))) {
            assertRefused(
                    Code.NOT_FOUND,
                    () -> networks.createRule(BOB, Ends.rule(end, Matcher.INTERNET)));
        }
        assertRefused(
                Code.NOT_FOUND,
                () ->
                        given.join(
                                BOB,
                                GivenNetworks.member(),
                                Optional.of(GivenNetworks.place(vpc))));
        assertEquals(AccountNetworks.NONE, networks.of(BOB));
        assertEquals(1, networks.of(ADA).rules().size());
    }

    @Test
    void aPlaceMustBeInItsNetwork() {
        var networks = open(NetworkLimits.USUAL);
        var vpc =
                networks.createVpc(
                                ADA,
                                GivenNetworks.wanted(Optional.empty(), Optional.of("10.5.0.0/24")))
                        .vpc();
        var outside = new Wanted.Exactly(IpAddress.stored("10.5.1.1"));
        assertRefused(Code.BAD_REQUEST, () -> joinAt(vpc, outside));
        var inside = new Wanted.Exactly(IpAddress.stored("10.5.0.77"));
        joinAt(vpc, inside);
        assertRefused(Code.CONFLICT, () -> joinAt(vpc, inside));
        var route = new StaticRoute(Cidr.stored("0.0.0.0/0"), IpAddress.stored("10.6.0.1"), 0);
        var place =
                new NewMembership(
                        "vpcs[0]", vpc.id(), new Wanted.Any(), new Wanted.Any(), List.of(route));
        var failure =
                assertThrows(
                        Failure.class,
                        () -> given.join(ADA, GivenNetworks.member(), Optional.of(place)));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().startsWith("vpcs[0].routes[0].via: "));
    }

    private void joinAt(Vpc vpc, Wanted ipv4) {
        given.join(ADA, GivenNetworks.member(), Optional.of(GivenNetworks.place(vpc, ipv4)));
    }

    @Test
    void listenersHearOfWhatIsThereAlready() {
        var networks = open(NetworkLimits.USUAL);
        var heard = new ArrayList<AccountNetworks>();
        networks.listen(
                (account, before, after) -> {
                    assertEquals(ADA, account);
                    assertEquals(after, networks.of(ADA));
                    heard.add(before);
                    heard.add(after);
                });
        var vpc = given.vpc(ADA, "net");
        var rule = networks.createRule(ADA, Ends.rule(Ends.of(vpc.id()), Matcher.INTERNET));
        assertRefused(Code.CONFLICT, () -> given.vpc(ADA, "net"));
        networks.deleteRule(ADA, rule.id().text());
        var one = AccountNetworks.NONE.with(vpc);
        var both = one.with(List.of(rule));
        assertEquals(List.of(AccountNetworks.NONE, one, one, both, both, one), heard);
    }
}
