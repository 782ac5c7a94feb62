package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.List;

/// Three members of a network where rules permit everything: one that writes frames, one that they are for, and one that has nothing to do
/// with them.
final class Trio implements AutoCloseable {
    static final String GATEWAY_MAC = "02:c0:00:00:00:00";
    static final String NOBODYS_MAC = "02:c0:00:00:00:77";
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Lab lab = new Lab();
    private final Guest guest;
    private final Guest victim;
    private final Guest other;

    Trio() {
        boolean isReady = false;
        try {
            var account = AccountId.random();
            var vpc = Given.vpc(lab, account, "10.3.0.0/24");
            Given.everythingIsPermitted(lab, account);
            guest = Given.member(lab, account, vpc);
            victim = Given.member(lab, account, vpc);
            other = Given.member(lab, account, vpc);
            isReady = true;
        } finally {
            if (!isReady) {
                lab.close();
            }
        }
    }

    Lab lab() {
        return lab;
    }

    Guest guest() {
        return guest;
    }

    Guest victim() {
        return victim;
    }

    Guest other() {
        return other;
    }

    static IpAddress linkLocal(Guest guest) {
        return Place.linkLocal(guest.nic());
    }

    static Frame.Path path(IpAddress source, IpAddress destination) {
        return new Frame.Path(source, destination);
    }

    Frame.Link link(String to) {
        return new Frame.Link(guest.nic().mac(), to);
    }

    Frame.Link toVictim() {
        return link(victim.nic().mac());
    }

    Frame.Link toGateway() {
        return link(GATEWAY_MAC);
    }

    /// What the others hear while one sends. Whatever is sent after it has arrived by then.
    List<Frame> heardOf(Runnable sending) {
        var neighbors = List.of(victim.probe(), other.probe());
        neighbors.forEach(Probe::watch);
        sending.run();
        assertReached(Flow.udp(guest.ipv4(), 40010, victim.ipv4(), 80));
        assertReached(Flow.udp(guest.ipv4(), 40010, other.ipv4(), 80));
        return neighbors.stream().flatMap(neighbor -> neighbor.heard().stream()).toList();
    }

    void assertReached(Flow flow) {
        var outcome = guest.probe().outcome(flow, PATIENCE);
        assertTrue(outcome instanceof Flow.Reached, () -> flow + ": " + outcome);
    }

    @Override
    public void close() {
        lab.close();
    }
}
