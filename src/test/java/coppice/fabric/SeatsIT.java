package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.Ends;
import coppice.network.VpcId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Two tunnels in one network.
class SeatsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final AccountId account = AccountId.random();
    private Lab lab;
    private VpcId vpc;

    @BeforeEach
    void start() {
        lab = new Lab();
        vpc = Given.vpc(lab, account, "10.6.0.0/24");
    }

    @AfterEach
    void close() {
        lab.close();
    }

    @Test
    void theyMeetByARuleThatSaysNothingButTheirAddresses() {
        var first = Given.seat(lab, account, vpc, List.of(), false);
        var second = Given.seat(lab, account, vpc, List.of(), false);
        var from = first.own().findFirst().orElseThrow();
        var to = second.own().findFirst().orElseThrow();
        Given.permitted(
                lab, account, Ends.of(Cidr.of(from.address())), Ends.of(Cidr.of(to.address())));
        assertReached(first.client().probe(), from.inner(), to.address());
    }

    @Test
    void aRangeInsideOfTheNetworkIsBehindTheOneThatHasItWhoeverElseIsThere() {
        Given.everythingIsPermitted(lab, account);
        for (int i = 1; i <= 4; i++) {
            var range = List.of(Cidr.around(IpAddress.stored("10.6.0." + 16 * (4 + i)), 28));
            Given.seat(lab, account, vpc, range, i % 2 == 0);
        }
        for (int i = 0; i < 3; i++) {
            var guest = Given.member(lab, account, vpc);
            for (int at = 1; at <= 4; at++) {
                assertReached(
                        guest.probe(),
                        guest.ipv4(),
                        IpAddress.stored("10.6.0." + (16 * (4 + at) + 1)));
            }
        }
    }

    private static void assertReached(Probe probe, IpAddress from, IpAddress to) {
        var outcome = probe.outcome(Flow.tcp(from, 40001, to, 80), PATIENCE);
        assertTrue(
                outcome instanceof Flow.Reached, () -> "%s -> %s: %s".formatted(from, to, outcome));
    }
}
