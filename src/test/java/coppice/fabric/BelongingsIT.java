package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.network.Protocol;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// What belongs to a connection: its errors, and the pieces of its packets.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BelongingsIT {
    private static final Flow.Outcome CLOSED = new Flow.Refused("ECONNREFUSED");

    private Paths paths;

    @BeforeAll
    void open() {
        paths = new Paths();
    }

    @AfterEach
    void clear() {
        paths.clear();
    }

    @AfterAll
    void close() {
        if (paths != null) {
            paths.close();
        }
    }

    @Test
    void whoeverAsksHearsThatAPortIsClosed() {
        paths.permitEverything();
        for (var path : paths.all()) {
            assertEquals(CLOSED, path.outcome(flow -> to(flow, 9999)), path::toString);
            assertEquals(
                    CLOSED,
                    path.outcome(f -> Flow.tcp(f.source(), 40031, f.destination(), 9999)),
                    path::toString);
        }
    }

    @Test
    void whoeverSendsTooMuchHearsHowMuchPasses() {
        paths.permitEverything();
        var ground = paths.lab().ground();
        var probe = paths.alone().probe();
        ground.run(Ground.HOSTS_NAME, "ip link set net0 mtu 1400\n");
        try {
            for (var flow :
                    List.of(
                            Flow.udp(paths.alone().ipv4(), 40041, Ground.INTERNET, 80),
                            Flow.udp(paths.alone().publicIpv6(), 40041, Ground.INTERNET_V6, 80))) {
                assertEquals(
                        new Flow.Refused("EMSGSIZE"),
                        probe.outcome(flow.of(1440, true), Paths.PATIENCE));
                assertTrue(
                        probe.outcome(flow.of(1340, true), Paths.PATIENCE) instanceof Flow.Reached,
                        flow::toString);
            }
        } finally {
            ground.run(Ground.HOSTS_NAME, "ip link set net0 mtu 1500\n");
        }
    }

    @Test
    void aDatagramInPiecesIsDecidedAboutAsAWhole() {
        for (var each : paths.accounts()) {
            for (var all : List.of("0.0.0.0/0", "::/0")) {
                var port = Given.at(Given.range(all), Protocol.UDP, 80);
                Given.permitted(paths.lab(), each, Given.range(all), port);
            }
        }
        paths.assertReached(flow -> flow.of(5000, false));
        paths.assertSilent(flow -> to(flow, 443).of(5000, false));
    }

    private static Flow to(Flow flow, int port) {
        return Flow.of(flow.protocol(), flow.source(), flow.sourcePort(), flow.destination(), port);
    }
}
