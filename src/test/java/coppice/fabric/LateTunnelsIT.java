package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.NewAttachment;
import coppice.network.NewTunnel;
import coppice.network.PublicKey;
import coppice.network.Tunnel;
import coppice.network.Tunnels;
import coppice.network.Wanted;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What cannot be put in place at once, or does not stay there.
class LateTunnelsIT {
    private static final Pattern TUNNEL_PORT = Pattern.compile("\\btn[0-9a-f]+\\b");

    private final AccountId account = AccountId.random();
    private final Script script = new Script(Optional.empty());
    private Lab lab;
    private Guest guest;
    private Tunnels tunnels;

    @BeforeEach
    void aMemberOfANetwork() {
        lab = new Lab();
        guest = Given.member(lab, account, Given.vpc(lab, account, "10.4.0.0/24"));
        tunnels = lab.tunnels();
    }

    @AfterEach
    void close() {
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    void aTunnelThatCannotBeMadeIsMadeAsSoonAsItCan() {
        cutSegment();
        var late = assertThrows(Failure.class, this::create);
        assertEquals(Code.UNAVAILABLE, late.code());
        var tunnel = tunnels.list(account).getFirst();
        lab.fabric().look();
        var address = tunnel.attachments().getFirst().ipv4().orElseThrow() + " ";
        assertFalse(shown().contains(address), this::shown);
        mendSegment();
        lab.fabric().look();
        assertTrue(shown().contains(address), this::shown);
        assertIsWhatTheNextServerMakes(tunnel);
    }

    @Test
    void aTunnelComesBackAtOnceToANetworkThatNobodyElseIsIn() {
        var empty = other();
        var id = create().id().text();
        for (int i = 0; i < 10; i++) {
            tunnels.attach(account, id, attachment(empty, false));
            tunnels.detach(account, id, empty);
        }
    }

    @Test
    void aTunnelHasThePlaceOfAnotherOneAsSoonAsThatIsGone() {
        for (int i = 0; i < 10; i++) {
            tunnels.delete(account, create().id().text());
        }
        assertEquals(List.of(), Script.names(lab.settings().namespace("tun-")));
    }

    @Test
    void aKeyIsWhatItIsWhateverItSpells() {
        var key = PublicKey.parse("key", "MTUPRIVATEPEERPORTDEVICENAMESPACEMTUPORTAAA=");
        var wanted =
                new NewTunnel(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(key),
                        NewTunnel.USUAL_ROUTES,
                        List.of());
        var tunnel = tunnels.create(account, wanted).tunnel();
        var namespace = lab.settings().namespace(tunnel.id().text());
        var device = Passage.device(lab.settings(), tunnel);
        assertEquals(key.text(), Lab.shown(namespace, "wg", "show", device, "peers").strip());
    }

    @Test
    void aTunnelThatIsLateDoesNotHoldUpRules() {
        cutSegment();
        assertThrows(Failure.class, this::create);
        assertThrows(
                Failure.class,
                () ->
                        tunnels.attach(
                                account,
                                tunnels.list(account).getFirst().id().text(),
                                attachment(other(), true)));
        var alone = Given.alone(lab, account);
        Given.permitted(lab, account, Given.vm(alone), Given.range("0.0.0.0/0"));
        var flow = Flow.udp(alone.ipv4(), 40001, Ground.INTERNET, 80);
        assertTrue(alone.probe().outcome(flow, Duration.ofSeconds(5)) instanceof Flow.Reached);
        mendSegment();
    }

    @Test
    void aTunnelThatIsDeletedWhileItIsLateLeavesNothing() {
        cutSegment();
        assertThrows(Failure.class, this::create);
        tunnels.delete(account, tunnels.list(account).getFirst().id().text());
        mendSegment();
        lab.fabric().look();
        assertEquals(List.of(), Script.names(lab.settings().namespace("tun-")));
        assertFalse(TUNNEL_PORT.matcher(shown()).find(), this::shown);
    }

    @Test
    void aWireGuardThatEndsIsMadeAnew() {
        var tunnel = create();
        var namespace = lab.settings().namespace(tunnel.id().text());
        var device = Passage.device(lab.settings(), tunnel);
        script.in(namespace, "ip link del %s\n".formatted(device));
        assertEquals(List.of(), lab.fabric().tunnels(Deadline.in(Duration.ofSeconds(5))));
        lab.fabric().look();
        var use = lab.fabric().tunnels(Deadline.in(Duration.ofSeconds(5)));
        assertEquals(
                List.of(new TunnelUse(tunnel.id(), account, Optional.empty(), new Passed(0, 0))),
                use);
        assertIsWhatTheNextServerMakes(tunnel);
    }

    @Test
    void whatComesOutOfATunnelIsJoinedBeforeAnybodyLooksAtIt() {
        var tunnel = create();
        var joins =
                Lab.shown(
                        segment(),
                        "unshare",
                        "-m",
                        "sh",
                        "-c",
                        "mount -t sysfs sysfs /sys; cat /sys/class/net/tn*/gro_flush_timeout;"
                                + " ethtool -k $(basename /sys/class/net/tn*) | grep ^generic-receive");
        var segments =
                Lab.shown(
                        lab.settings().namespace(tunnel.id().text()),
                        "sh",
                        "-c",
                        "for end in $(ip -o link show type veth | cut -d' ' -f2 | cut -d@ -f1);"
                                + " do ethtool -k $end | grep ^tcp-segmentation; done");
        assertEquals(
                "50000\ngeneric-receive-offload: on\ntcp-segmentation-offload: off\n",
                joins + segments);
    }

    private Tunnel create() {
        var vpc = guest.nic().membership().orElseThrow().vpc().text();
        var places = List.of(attachment(vpc, false));
        return Given.tunnel(lab, account, NewTunnel.USUAL_ROUTES, places).tunnel();
    }

    private static NewAttachment attachment(String vpc, boolean isExit) {
        var any = new Wanted.Any();
        return new NewAttachment("", vpc, any, any, List.of(), isExit);
    }

    private String other() {
        return Given.vpc(lab, account, "10.5.0.0/24").text();
    }

    /// No port can be made in a segment whose bridge has another name.
    private void cutSegment() {
        script.in(segment(), "ip link set br0 down\nip link set br0 name away\n");
    }

    private void mendSegment() {
        script.in(segment(), "ip link set away name br0\nip link set br0 up\n");
    }

    private String segment() {
        return lab.settings().namespace(Place.of(guest.nic()).name());
    }

    private void assertIsWhatTheNextServerMakes(Tunnel tunnel) {
        var here = shown() + shown(tunnel);
        assertTrue(TUNNEL_PORT.matcher(here).find(), here);
        assertTrue(here.contains("dnat"), here);
        lab.restart(lab.guests());
        assertEquals(here, shown() + shown(tunnel));
    }

    private String shown() {
        return sorted(Given.shown(segment()).replaceAll("0x[0-9a-f]{8}\\b", "GENERATION"));
    }

    private String shown(Tunnel tunnel) {
        return sorted(Given.shown(lab.settings().namespace(tunnel.id().text())));
    }

    /// Routes and addresses in another order are the same, and links take a moment to come up.
    private static String sorted(String shown) {
        return shown.replaceAll("\\b(UP|DOWN|LOWERLAYERDOWN) +|<[A-Z,_-]+>| linkdown", "")
                .lines()
                .map(String::strip)
                .sorted()
                .collect(Collectors.joining("\n"));
    }
}
