package coppice.network;

import static coppice.network.GivenTunnels.in;
import static coppice.network.GivenTunnels.ranges;
import static coppice.network.GivenTunnels.wanted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.identity.AccountId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class TunnelsTest {
    private static final TunnelSettings THREE_PORTS =
            new TunnelSettings(Optional.empty(), 51_820, 3);

    @TempDir private Path directory;
    private GivenTunnels given;
    private Tunnels tunnels;
    private AccountId ada;
    private AccountId bob;

    @BeforeEach
    void open() {
        given = new GivenTunnels(directory);
        tunnels = given.tunnels();
        ada = given.ada();
        bob = given.bob();
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aNumberIsFreeOnThisHostAndTellsNothingOfOtherTunnels() {
        given.reopen(new TunnelSettings(Optional.empty(), 51_820, 65_536 - 51_820));
        var numbers =
                IntStream.range(0, 40)
                        .mapToObj(n -> given.tunnel(n % 2 == 0 ? ada : bob, "t" + n).number())
                        .toList();
        assertEquals(40, numbers.stream().distinct().count());
        assertTrue(numbers.stream().allMatch(n -> n >= 0 && n < 65_536 - 51_820), numbers + "");
        // One after the other, or all in one corner, they would say how many there are.
        assertTrue(numbers.stream().sorted().toList().getLast() > 6_000, numbers + "");
        assertTrue(!numbers.equals(numbers.stream().sorted().toList()), numbers + "");
    }

    @Test
    void aNumberIsAPortAndAnAddressOfEachFamily() {
        for (int i = 0; i < 10; i++) {
            var tunnel = given.tunnel("t" + i);
            int number = tunnel.number();
            assertEquals(IpAddress.stored("100.64.0.0").plus(number + 1), tunnel.clientV4());
            assertEquals(IpAddress.stored("fdff::").plus(number + 1), tunnel.clientV6());
            assertEquals(
                    new Endpoint(
                            Optional.of("tunnel.example.test"), 51_820 + number, given.serverKey()),
                    tunnels.endpoint(tunnel));
        }
    }

    @Test
    void theRangesOfTheHostDoNotOverlapAndHoldAllTunnelsAndSlots() {
        assertTrue(!HostRanges.TUNNELS.overlaps(HostRanges.SLOTS));
        for (var range : List.of(HostRanges.TUNNELS, HostRanges.SLOTS)) {
            assertTrue(Cidr.stored("100.64.0.0/10").contains(range));
        }
        assertTrue(HostRanges.TUNNELS.contains(HostRanges.TUNNELS.first().plus(65_535)));
    }

    @Test
    void aHostWithoutAFreePortMakesNoTunnel() {
        given.reopen(THREE_PORTS);
        for (var slug : List.of("a", "b", "c")) {
            given.tunnel(bob, slug);
        }
        var refused = refuses(Code.CONFLICT, () -> given.tunnel("d"));
        assertTrue(refused.getMessage().contains("port range"), refused.getMessage());
        int freed = given.tunnels().get(bob, "b").number();
        given.tunnels().delete(bob, "b");
        assertEquals(freed, given.tunnel("d").number());
    }

    @Test
    void aPortRangeThatEndsBeforeATunnelIsNotStartedWith() {
        given.reopen(new TunnelSettings(Optional.empty(), 51_820, 4));
        for (var slug : List.of("a", "b", "c", "d")) {
            given.tunnel(slug);
        }
        var refused = refuses(Code.CONFLICT, () -> given.reopen(THREE_PORTS));
        assertTrue(refused.getMessage().contains("tunnel.ports"), refused.getMessage());
        given.reopen(new TunnelSettings(Optional.empty(), 40_000, 4));
        var tunnel = given.tunnels().get(ada, "d");
        assertEquals(40_000 + tunnel.number(), given.tunnels().endpoint(tunnel).port());
    }

    @Test
    void anAccountHasAHundredTunnelsAtMost() {
        for (int n = 0; n < NetworkLimits.USUAL.tunnels(); n++) {
            given.tunnel("t" + n);
        }
        var refused = refuses(Code.CONFLICT, () -> given.tunnel("more"));
        assertTrue(refused.getMessage().contains("at most 100"), refused.getMessage());
        given.tunnel(bob, "more");
        tunnels.delete(ada, "t7");
        given.tunnel("more");
    }

    @Test
    void aMintedPrivateKeyBelongsToThePublicKeyAndIsGivenOnce() {
        var issued = tunnels.create(ada, wanted("office"));
        var privateKey = issued.privateKey().orElseThrow().reveal();
        assertEquals(KeyPair.of(privateKey).publicKey(), issued.tunnel().clientKey());
        assertTrue(!issued.toString().contains(privateKey));
    }

    @Test
    void aTunnelWithTheCallersKeyHasNoPrivateKeyHere() {
        var key = KeyPair.random().publicKey();
        var issued = tunnels.create(ada, keyed("office", key));
        assertEquals(Optional.empty(), issued.privateKey());
        assertEquals(key, issued.tunnel().clientKey());
    }

    @Test
    void noTwoTunnelsOfThisServerHaveOneKey() {
        var key = KeyPair.random().publicKey();
        tunnels.create(bob, keyed("his", key));
        var refused = refuses(Code.CONFLICT, () -> tunnels.create(ada, keyed("office", key)));
        assertTrue(refused.getMessage().startsWith("clientPublicKey: "), refused.getMessage());
        given.tunnel("office");
        refuses(Code.CONFLICT, () -> tunnels.rotateKey(ada, "office", Optional.of(key)));
        tunnels.delete(bob, "his");
        tunnels.rotateKey(ada, "office", Optional.of(key));
        refuses(Code.CONFLICT, () -> tunnels.create(bob, keyed("his", key)));
    }

    @Test
    void theServersOwnKeyIsNoClients() {
        refuses(Code.CONFLICT, () -> tunnels.create(ada, keyed("office", given.serverKey())));
    }

    @Test
    void anotherKeyLeavesAllElseAsItIs() {
        given.network("backend", "10.20.30.0/24");
        var before = tunnels.create(ada, wanted("office", in("backend", "10.99.0.0/16"))).tunnel();
        given.pass(Duration.ofMinutes(1));
        var issued = tunnels.rotateKey(ada, "office", Optional.empty());
        var after = issued.tunnel();
        assertNotEquals(before.clientKey(), after.clientKey());
        assertEquals(
                KeyPair.of(issued.privateKey().orElseThrow().reveal()).publicKey(),
                after.clientKey());
        assertEquals(before.with(after.clientKey()).updated(after.updatedAt()), after);
        assertEquals(before.updatedAt().plusSeconds(60), after.updatedAt());
        assertEquals(tunnels.endpoint(before), tunnels.endpoint(after));
        assertEquals(after, tunnels.get(ada, "office"));
    }

    @Test
    void theSameKeyAgainIsNoError() {
        var before = given.tunnel("office");
        var again = tunnels.rotateKey(ada, "office", Optional.of(before.clientKey()));
        assertEquals(before.clientKey(), again.tunnel().clientKey());
    }

    @Test
    void theListIsNewestFirstAndTiesAreByIdDescending() {
        var old = given.tunnel("old");
        given.pass(Duration.ofMillis(1));
        var same = List.of(given.tunnel("a"), given.tunnel("b"), given.tunnel("c"));
        given.pass(Duration.ofMillis(1));
        var last = given.tunnel("last");
        var expected = new ArrayList<Tunnel>();
        expected.add(last);
        same.stream()
                .sorted((a, b) -> b.id().text().compareTo(a.id().text()))
                .forEach(expected::add);
        expected.add(old);
        assertEquals(expected, tunnels.list(ada));
        assertEquals(List.of(), tunnels.list(bob));
    }

    @Test
    void aNetworkListsTheTunnelsThatAreAttachedToIt() {
        given.network("backend", "10.20.30.0/24");
        given.network("other", "10.20.31.0/24");
        tunnels.create(ada, wanted("old", in("backend"), in("other")));
        given.pass(Duration.ofMillis(1));
        tunnels.create(ada, wanted("new", in("backend")));
        given.tunnel("apart");
        assertEquals(
                List.of(tunnels.get(ada, "new"), tunnels.get(ada, "old")),
                tunnels.list(ada, "backend"));
        assertEquals(List.of(tunnels.get(ada, "old")), tunnels.list(ada, "other"));
        refuses(Code.NOT_FOUND, () -> tunnels.list(ada, "nothing"));
        refuses(Code.NOT_FOUND, () -> tunnels.list(bob, "backend"));
    }

    @Test
    void aTunnelIsFoundByItsIdAndItsSlugByItsAccountOnly() {
        var tunnel = given.tunnel("office");
        given.network("backend", "10.20.30.0/24");
        assertEquals(tunnel, tunnels.get(ada, tunnel.id().text()));
        assertEquals(tunnel, tunnels.get(ada, "office"));
        for (var name : List.of(tunnel.id().text(), "office")) {
            refuses(Code.NOT_FOUND, () -> tunnels.get(bob, name));
            refuses(Code.NOT_FOUND, () -> tunnels.update(bob, name, before -> before));
            refuses(Code.NOT_FOUND, () -> tunnels.rotateKey(bob, name, Optional.empty()));
            refuses(Code.NOT_FOUND, () -> tunnels.delete(bob, name));
            refuses(Code.NOT_FOUND, () -> tunnels.attach(bob, name, in("backend")));
            refuses(Code.NOT_FOUND, () -> tunnels.detach(bob, name, "backend"));
        }
        assertEquals(tunnel, tunnels.get(ada, "office"));
    }

    @Test
    void anUpdateChangesSlugAndNameAndNothingElse() {
        var before = given.tunnel("office");
        given.pass(Duration.ofMinutes(1));
        var after =
                tunnels.update(
                        ada,
                        "office",
                        tunnel ->
                                tunnel.with(KeyPair.random().publicKey())
                                        .with(
                                                Optional.of(new Slug("hq")),
                                                Optional.of("Headquarters")));
        assertEquals(
                before.with(Optional.of(new Slug("hq")), Optional.of("Headquarters"))
                        .updated(before.updatedAt().plusSeconds(60)),
                after);
        refuses(Code.NOT_FOUND, () -> tunnels.get(ada, "office"));
        given.tunnel("office");
    }

    @Test
    void aSlugIsHeldByOneTunnelOfAnAccount() {
        given.tunnel("office");
        given.tunnel("home");
        given.tunnel(bob, "office");
        refuses(Code.CONFLICT, () -> given.tunnel("office"));
        refuses(
                Code.CONFLICT,
                () ->
                        tunnels.update(
                                ada,
                                "home",
                                t -> t.with(Optional.of(new Slug("office")), Optional.empty())));
        tunnels.update(ada, "home", t -> t.with(Optional.of(new Slug("home")), Optional.empty()));
        tunnels.delete(ada, "office");
        given.tunnel("office");
    }

    @Test
    void aDeletedTunnelTakesTheRulesThatNameItAlong() {
        var tunnel = given.tunnel("office");
        var other = given.tunnel("home");
        given.networks().createRule(ada, rule(tunnel.id()));
        var kept = given.networks().createRule(ada, rule(other.id()));
        tunnels.delete(ada, "office");
        assertEquals(List.of(kept), given.networks().of(ada).rules());
        given.reopen();
        assertEquals(List.of(kept), given.networks().of(ada).rules());
        assertEquals(List.of(other), given.tunnels().list(ada));
    }

    private static NewRule rule(TunnelId tunnel) {
        var anywhere =
                new Matcher(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        true,
                        Optional.empty(),
                        Optional.empty());
        var named =
                new Matcher(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(tunnel),
                        Optional.empty(),
                        false,
                        Optional.empty(),
                        Optional.empty());
        return new NewRule(anywhere, named, Optional.empty());
    }

    @Test
    void routesAreOneToSixtyFourAndNotEverything() {
        var many = IntStream.range(0, 65).mapToObj("10.%d.0.0/16"::formatted).toList();
        refuses(Code.BAD_REQUEST, () -> routed());
        refuses(Code.BAD_REQUEST, () -> routed(many.toArray(String[]::new)));
        refuses(Code.BAD_REQUEST, () -> routed("10.0.0.0/8", "0.0.0.0/0"));
        refuses(Code.BAD_REQUEST, () -> routed("::/0"));
        assertEquals(64, routed(many.subList(0, 64).toArray(String[]::new)).routes().size());
        assertEquals(2, routed("0.0.0.0/1", "128.0.0.0/1").routes().size());
    }

    private static NewTunnel routed(String... routes) {
        return new NewTunnel(
                Optional.empty(), Optional.empty(), Optional.empty(), ranges(routes), List.of());
    }

    private static NewTunnel keyed(String slug, PublicKey key) {
        return new NewTunnel(
                Optional.of(new Slug(slug)),
                Optional.empty(),
                Optional.of(key),
                NewTunnel.USUAL_ROUTES,
                List.of());
    }

    private static Failure refuses(Code code, Executable call) {
        var failure = assertThrows(Failure.class, call);
        assertEquals(code, failure.code(), failure.getMessage());
        return failure;
    }
}
