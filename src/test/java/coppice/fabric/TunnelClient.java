package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.base.Secret;
import coppice.base.Undo;
import coppice.network.Endpoint;
import coppice.network.Tunnel;
import java.util.Collection;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Whoever is behind a tunnel: a namespace with nothing but the end of a WireGuard, whose socket is on the Internet, and a [Probe]. It
/// is the client of one tunnel after the other, and has all addresses that it is told to have.
final class TunnelClient implements AutoCloseable {
    private static final String MAKING =
            """
            ip link add DEVICE type wireguard 2>/dev/null || {
              wireguard-go DEVICE </dev/null >/dev/null 2>&1
              wg show DEVICE >/dev/null
            }
            ip link set DEVICE netns NAMESPACE
            """;

    /// A peer that is told anew has no session, and one that keeps alive asks for one at once.
    private static final String DIALING =
            """
            wg setconf DEVICE /dev/stdin <<END
            [Interface]
            PrivateKey = PRIVATE
            [Peer]
            PublicKey = SERVER
            Endpoint = ADDRESS
            AllowedIPs = 0.0.0.0/0, ::/0
            PersistentKeepalive = 25
            END
            ip addr flush dev DEVICE scope global
            ip addr add CLIENT4/32 dev DEVICE
            ip addr add CLIENT6/128 dev DEVICE nodad
            ip link set DEVICE mtu 1420 up
            ip route replace default dev DEVICE
            ip -6 route replace default dev DEVICE
            n=0
            until wg show DEVICE latest-handshakes | grep -q '[1-9][0-9]*$'; do
              n=$((n + 1))
              test $n -lt 500
              sleep 0.01
            done
            """;

    /// Of the routes that say what belongs here.
    private static final int PROTOCOL = 77;

    private final Ground ground;
    private final String name;
    private final String device = "wc" + Ground.newId();
    private final Undo end = new Undo();
    private final Probe probe;

    TunnelClient(Ground ground, int number) {
        this.ground = ground;
        this.name = "client-" + number;
        boolean isReady = false;
        try {
            ground.make(name, end);
            ground.run(Ground.INTERNETS_NAME, filled(MAKING));
            // Its program does not always notice that a namespace goes with it.
            end.onFailure(() -> ground.run(name, "ip link del %s\n".formatted(device)));
            // Routes say what is here, and of IPv6 that is not enough.
            ground.run(name, "echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind\n");
            probe = end.add(ground.probe(name, device));
            isReady = true;
        } finally {
            if (!isReady) {
                end.close();
            }
        }
    }

    Probe probe() {
        return probe;
    }

    /// Is the client of this tunnel from now on, and of no other one.
    void dial(Tunnel tunnel, Endpoint server, Secret key) {
        ground.run(
                name,
                filled(DIALING)
                        .replace("PRIVATE", key.reveal())
                        .replace("SERVER", server.key().text())
                        .replace("ADDRESS", server.host().orElseThrow() + ":" + server.port())
                        .replace("CLIENT4", tunnel.clientV4().toString())
                        .replace("CLIENT6", tunnel.clientV6().toString()));
    }

    private String filled(String text) {
        return text.replace("NAMESPACE", ground.namespace(name)).replace("DEVICE", device);
    }

    /// Has these addresses, whosever they are, beside those of its tunnel.
    void have(Collection<Cidr> ranges, Collection<IpAddress> addresses) {
        var added =
                Stream.concat(ranges.stream(), addresses.stream().map(Cidr::of))
                        .map(
                                "route replace local %s dev lo proto %d\n".formatted("%s", PROTOCOL)
                                        ::formatted)
                        .distinct()
                        .collect(Collectors.joining());
        ground.run(
                name,
                """
                ip route flush table local proto 77
                ip -6 route flush table local proto 77
                ip -batch - <<END
                %sEND
                """
                        .formatted(added));
    }

    @Override
    public void close() {
        end.close();
    }
}
