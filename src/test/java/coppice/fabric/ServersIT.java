package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Servers come and go, and there may be several.
class ServersIT {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration SHORT = Duration.ofMillis(500);

    private final AccountId account = AccountId.random();

    @Test
    void anotherServerRemovesWhatItDoesNotWantAndTheRestGoesOn() {
        try (var own = new Lab()) {
            var vpc = Given.vpc(own, account, "10.4.0.0/24");
            Given.everythingIsPermitted(own, account);
            var guest = Given.member(own, account, vpc);
            var alone = own.guest(account, Optional.empty());
            var lost = Given.member(own, account, vpc);
            var stranger = own.guest(account, Optional.empty());
            var stream = Flow.udp(guest.ipv4(), 40001, Ground.INTERNET, 80);
            guest.probe().stream(stream, Duration.ofMillis(5));
            var removed = own.restart(List.of(guest, alone));
            assertEquals(List.of(own.settings().namespace(stranger.vm().text())), removed);
            assertFalse(
                    Lab.shown(own.settings().namespace(vpc.text()), "ip", "link")
                            .contains(new Tap(lost.nic(), new Holder.User(0)).name()));
            assertNoLoss(guest, stream);
            assertReached(guest, Flow.tcp(guest.ipv4(), 40002, Ground.INTERNET, 80));
            assertReached(alone, Flow.tcp(alone.publicIpv6(), 40002, guest.publicIpv6(), 80));
            own.plugAgain(lost);
            own.plugAgain(stranger);
            assertReached(guest, Flow.tcp(guest.ipv4(), 40003, lost.ipv4(), 80));
            assertReached(stranger, Flow.tcp(stranger.publicIpv6(), 40003, lost.publicIpv6(), 80));
        }
    }

    @Test
    void aServerOfAnotherVersionHadOtherRules() {
        try (var own = new Lab()) {
            Given.everythingIsPermitted(own, account);
            var guest = Given.member(own, account, Given.vpc(own, account, "10.4.0.0/24"));
            var hub = own.settings().namespace(Hub.NAME);
            var segment = own.settings().namespace(Place.of(guest.nic()).name());
            var before = Given.shown(hub);
            var script = new Script(Optional.empty());
            script.nft(hub, strange("hub", "public4"));
            script.nft(segment, strange("segment", "own6"));
            own.restart(own.guests());
            assertEquals(before, Given.shown(hub));
            assertReached(guest, Flow.tcp(guest.ipv4(), 40001, Ground.INTERNET, 80));
            assertReached(guest, Flow.tcp(guest.publicIpv6(), 40001, Ground.INTERNET_V6, 80));
        }
    }

    /// Where a set is of what no such set is of.
    private static String strange(String table, String set) {
        return """
        delete table inet TABLE
        table inet TABLE {
          set SET { type mark; }
          chain forward { type filter hook forward priority 7; policy drop; }
        }
        """
                .replace("TABLE", table)
                .replace("SET", set);
    }

    @Test
    void serversOfOneHostDoNotMeet() {
        try (var ground = new Ground()) {
            var host = host(ground);
            try (var first = new Lab(ground, Lab.Site.FIRST)) {
                Given.everythingIsPermitted(first, account);
                var guest = Given.alone(first, account);
                try (var second = new Lab(ground, Lab.Site.SECOND)) {
                    Given.everythingIsPermitted(second, account);
                    var other = Given.alone(second, account);
                    var slot = second.settings().slot(other.nic().slot());
                    var forbidden =
                            Stream.of(slot, second.settings().platform(), second.settings().hub())
                                    .flatMap(
                                            to ->
                                                    Stream.of(
                                                            Flow.tcp(guest.ipv4(), 40001, to, 80),
                                                            Flow.icmp(guest.ipv4(), to)))
                                    .toList();
                    guest.probe().begin(forbidden, SHORT);
                    guest.probe()
                            .outcomes(forbidden)
                            .forEach((f, o) -> assertFalse(o instanceof Flow.Reached, f::toString));
                    var platform = Flow.tcp(first.settings().platform(), 40001, slot, 80);
                    assertFalse(ground.host().outcome(platform, SHORT) instanceof Flow.Reached);
                    assertReached(other, Flow.tcp(other.ipv4(), 40001, Ground.INTERNET, 80));
                }
                assertReached(guest, Flow.tcp(guest.ipv4(), 40002, Ground.INTERNET, 80));
                assertReached(guest, Flow.tcp(guest.publicIpv6(), 40002, Ground.INTERNET_V6, 80));
                Fabric.remove(first.settings());
                assertEquals(List.of(), Script.names(first.settings().namespace("")));
                assertEquals(host, host(ground));
            }
        }
    }

    private static String host(Ground ground) {
        return Given.shown(ground.namespace(Ground.HOSTS_NAME));
    }

    private static void assertReached(Guest from, Flow flow) {
        var outcome = from.probe().outcome(flow, PATIENCE);
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }

    private static void assertNoLoss(Guest from, Flow stream) {
        from.probe().rest(stream);
        Wait.until(
                PATIENCE,
                () -> {
                    var count = from.probe().count(stream);
                    return count.answered() == count.sent();
                },
                () -> "lost: " + from.probe().count(stream));
    }
}
