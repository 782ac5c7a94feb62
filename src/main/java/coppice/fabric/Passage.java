package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.network.Attachment;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The namespace of one tunnel: its WireGuard interface, whose socket stays with the host, and a pair of veths to each network that it is
/// attached to. All is made so that it can be made again: what is right already is left alone, above all a client's session. Thread-safe.
final class Passage {
    private static final List<Cidr> EVERYTHING =
            List.of(Cidr.stored("0.0.0.0/0"), Cidr.stored("::/0"));

    /// Of WireGuard over IPv6 in Ethernet.
    private static final int OVERHEAD = 80;

    /// A WireGuard that is a program looks for its interface when it starts: it is not moved before the program answers. One of the
    /// same name whose tunnel was removed just now may need a moment to end.
    private static final String MAKING =
            """
            test -e /run/netns/NAMESPACE || ip netns add NAMESPACE
            ip -n NAMESPACE link show DEVICE >/dev/null 2>&1 || {
              ip -n NAMESPACE link set lo up
              ip link show DEVICE >/dev/null 2>&1 || ip link add DEVICE type wireguard 2>/dev/null || {
                tries=30
                until wireguard-go DEVICE </dev/null >/dev/null 2>&1; do
                  tries=$((tries - 1))
                  test $tries -gt 0 || { echo "wireguard-go does not start for DEVICE"; exit 1; }
                  sleep 0.1
                done
                wg show DEVICE >/dev/null
              }
              ip link set DEVICE netns NAMESPACE
            }
            """;

    private static final String INSIDE =
            """
            echo 1 > /proc/sys/net/ipv4/ip_forward
            echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            echo 1 > /proc/sys/net/ipv4/conf/default/proxy_arp
            echo 0 > /proc/sys/net/ipv4/conf/all/send_redirects
            echo 0 > /proc/sys/net/ipv4/conf/default/send_redirects
            ip link set DEVICE mtu MTU up
            ip route replace default dev DEVICE
            ip -6 route replace default dev DEVICE
            for family in -4 -6; do
              ip $family rule list | grep -q 'iif DEVICE lookup 100' || {
                ip $family rule add iif DEVICE lookup 100 pref 100
                ip $family rule add iif lo lookup 100 pref 101
              }
            done
            """;

    private static final String ASKING =
            """
            wg show DEVICE listen-port
            wg show DEVICE allowed-ips
            """;

    private static final String REPLACING =
            """
            wg syncconf DEVICE /dev/stdin <<END
            [Interface]
            PrivateKey = <PRIVATE>
            ListenPort = PORT
            <PEER>
            END
            """;

    private static final String ADDING =
            """
            wg addconf DEVICE /dev/stdin <<END
            <PEER>
            END
            """;

    private static final String PEER =
            """
            [Peer]
            PublicKey = %s
            AllowedIPs = %s""";

    private final FabricSettings settings;
    private final Script script;
    private final String namespace;
    private final String device;
    private final WireGuardEnd end;

    Passage(Tunnel tunnel, FabricSettings settings, WireGuardEnd end) {
        this.settings = settings;
        this.script = settings.script();
        this.namespace = settings.namespace(tunnel.id().text());
        this.device = device(settings, tunnel);
        this.end = end;
    }

    String namespace() {
        return namespace;
    }

    String device() {
        return device;
    }

    /// The interface, whose name no other one of this machine has: a WireGuard that is a program is asked by it.
    static String device(FabricSettings settings, Tunnel tunnel) {
        return "wg%s%x".formatted(settings.instance(), tunnel.number());
    }

    /// Makes it what the tunnel is now, but for the ends of its networks.
    void make(Tunnel tunnel) {
        script.here(filled(MAKING, tunnel));
        script.in(namespace, filled(INSIDE + configuring(tunnel), tunnel));
    }

    /// Whoever replaces what is behind a client takes it away first, and packets meanwhile get lost: it is done only where something goes.
    private String configuring(Tunnel tunnel) {
        var known = script.ask(namespace, filled(ASKING, tunnel)).lines().toList();
        if (known.size() != 2 || !known.getFirst().equals(Integer.toString(end.port(tunnel)))) {
            return REPLACING;
        }
        var peer = known.getLast().split("\\s+");
        if (!peer[0].equals(tunnel.clientKey().text()) || peer[1].equals("(none)")) {
            return REPLACING;
        }
        var there = Arrays.stream(peer).skip(1).map(Cidr::stored).collect(Collectors.toSet());
        var wanted = allowed(tunnel);
        return there.equals(wanted) ? "" : wanted.containsAll(there) ? ADDING : REPLACING;
    }

    private String filled(String text, Tunnel tunnel) {
        var allowed =
                allowed(tunnel).stream().map(Cidr::toString).collect(Collectors.joining(", "));
        return text.replace("NAMESPACE", namespace)
                .replace("DEVICE", device)
                .replace("PORT", Integer.toString(end.port(tunnel)))
                .replace("MTU", Integer.toString(settings.mtu() - OVERHEAD))
                // Last, and by what no key can spell: a client chooses its own.
                .replace("<PEER>", PEER.formatted(tunnel.clientKey().text(), allowed))
                .replace("<PRIVATE>", end.key().reveal());
    }

    private static Set<Cidr> allowed(Tunnel tunnel) {
        var allowed = new LinkedHashSet<Cidr>();
        allowed.add(Cidr.of(tunnel.clientV4()));
        allowed.add(Cidr.of(tunnel.clientV6()));
        for (var attachment : tunnel.attachments()) {
            allowed.addAll(attachment.remote());
            if (attachment.isExit()) {
                allowed.addAll(EVERYTHING);
            }
        }
        return allowed;
    }

    /// Connects it with its networks, whose segments have made their ends, and with no others.
    void connect(Tunnel tunnel) {
        var mouths = tunnel.attachments().stream().map(a -> new Mouth(tunnel, a)).toList();
        script.in(namespace, inner(mouths) + rules(tunnel, mouths));
    }

    private String inner(List<Mouth> mouths) {
        var lines =
                new StringBuilder(
                        """
                        for end in $(ip -o link show type veth | cut -d: -f2 | cut -d@ -f1); do
                          case " KNOWN " in *" $end "*) ;; *) ip link del $end 2>/dev/null || true ;; esac
                        done
                        """
                                .replace(
                                        "KNOWN",
                                        mouths.stream()
                                                .map(Mouth::inner)
                                                .collect(Collectors.joining(" "))));
        for (var mouth : mouths) {
            lines.append("ip link set %s up\n".formatted(mouth.inner()));
            mouth.attachment()
                    .addresses()
                    .forEach(
                            address ->
                                    lines.append(
                                            "ip addr replace %s/%d dev %s%s\n"
                                                    .formatted(
                                                            address,
                                                            address.bits(),
                                                            mouth.inner(),
                                                            address.isV6() ? " nodad" : "")));
            ranges(mouth.attachment())
                    .forEach(
                            range ->
                                    lines.append(
                                            "ip route replace %s dev %s table 100\n"
                                                    .formatted(range, mouth.inner())));
        }
        return lines.toString();
    }

    private static Stream<String> ranges(Attachment attachment) {
        return attachment.ranges().map(Object::toString);
    }

    private String rules(Tunnel tunnel, List<Mouth> mouths) {
        return "nft -f - <<'END'\n%sEND\n"
                .formatted(new PassageRules(tunnel, mouths, settings).text());
    }

    /// What WireGuard says of the client, whom it knows as long as the interface is there.
    Optional<TunnelUse> use(TunnelId id, AccountId account) {
        try {
            var said =
                    script.ask(
                                    namespace,
                                    "wg show DEVICE latest-handshakes\nwg show DEVICE transfer\n"
                                            .replace("DEVICE", device))
                            .split("\\s+");
            long handshake = Long.parseLong(said[1]);
            return Optional.of(
                    new TunnelUse(
                            id,
                            account,
                            Optional.of(handshake)
                                    .filter(seconds -> seconds > 0)
                                    .map(Instant::ofEpochSecond),
                            new Passed(Long.parseLong(said[3]), Long.parseLong(said[4]))));
        } catch (Failure | ArrayIndexOutOfBoundsException | NumberFormatException e) {
            return Optional.empty(); // it is being made or removed
        }
    }

    /// Takes it away; its interface and, where it is a program, its WireGuard end with it.
    void remove() {
        script.here(
                """
                if test -e /run/netns/NAMESPACE; then
                  ip -n NAMESPACE link del DEVICE 2>/dev/null || true
                  ip netns del NAMESPACE
                fi
                ip link del DEVICE 2>/dev/null || true
                """
                        .replace("NAMESPACE", namespace)
                        .replace("DEVICE", device));
    }
}
