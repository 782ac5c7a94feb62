package coppice.fabric;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Files;
import java.nio.file.Path;

/// The namespace that joins the segments with each other and with the host, and the host's own side of it. It routes and keeps no
/// state: segments have decided already. What it adds are things that no rule of a user can change.
final class Hub {
    static final String NAME = "hub";

    private static final String HOST_SIDE =
            """
            ip netns add NAMESPACE
            ip -batch - <<END
            link add UPLINK type veth peer name up0 netns NAMESPACE
            link set UPLINK mtu MTU up
            addr add PLATFORM/32 dev UPLINK
            addr add fe80::1/64 dev UPLINK nodad
            route add HUB dev UPLINK
            route add SLOTS via HUB dev UPLINK src PLATFORM onlink
            END
            echo 1 > /proc/sys/net/ipv4/ip_forward
            """;

    private static final String HOST_SIDE_V6 =
            """
            ip route add RANGE via fe80::2 dev UPLINK
            echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
            """;

    private static final String INSIDE =
            """
            echo 1 > /proc/sys/net/ipv4/ip_forward
            echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
            ip -batch - <<END
            link set lo up
            link set up0 mtu MTU up
            addr add HUB/32 dev up0
            addr add fe80::2/64 dev up0 nodad
            route add PLATFORM dev up0
            route add default via PLATFORM dev up0 onlink
            route add default via fe80::1 dev up0
            route add blackhole SLOTS
            END
            """;

    private final FabricSettings settings;
    private final Script script;

    Hub(FabricSettings settings) {
        this.settings = settings;
        this.script = settings.script();
    }

    /// Makes it, or finds it there. The rules are put in place anew, in one step.
    void start() {
        requireBridgeFilter();
        script.allowTaps();
        if (!Script.exists(settings.namespace(NAME)) || !hasUplink()) {
            remove();
            build();
        }
        var rules = new HubRules(settings);
        try {
            put(rules, false);
        } catch (Failure e) {
            put(rules, true); // another version of the server had others
        }
    }

    private void put(HubRules rules, boolean areNew) {
        script.nft(settings.namespace(NAME), rules.inside(areNew));
        script.here(nft(rules.host(areNew)));
    }

    private boolean hasUplink() {
        try {
            script.here("ip link show %s >/dev/null\n".formatted(settings.uplink()));
            return true;
        } catch (Failure e) {
            return false; // the host was started anew
        }
    }

    /// Bridged packets pass the rules only with it; it may be a module.
    private void requireBridgeFilter() {
        script.here("modprobe -q br_netfilter || true\n");
        if (!Files.exists(Path.of("/proc/sys/net/bridge"))) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the kernel has no br_netfilter, which private networks need; load that module");
        }
    }

    private static String nft(String rules) {
        return "nft -f - <<'END'\n%sEND\n".formatted(rules);
    }

    private void build() {
        script.here(filled(HOST_SIDE));
        script.in(settings.namespace(NAME), filled(INSIDE));
        settings.ipv6()
                .ifPresent(
                        range -> {
                            script.here(filled(HOST_SIDE_V6).replace("RANGE", range.toString()));
                            script.in(
                                    settings.namespace(NAME),
                                    "ip route add blackhole %s\n".formatted(range));
                        });
    }

    private String filled(String text) {
        return text.replace("NAMESPACE", settings.namespace(NAME))
                .replace("UPLINK", settings.uplink())
                .replace("PLATFORM", settings.platform().toString())
                .replace("HUB", settings.hub().toString())
                .replace("SLOTS", settings.slots().toString())
                .replace("MTU", Integer.toString(settings.mtu()))
                .replace("TABLE", settings.table());
    }

    /// Takes everything of it away.
    void remove() {
        script.here(
                filled(
                        """
                        nft delete table inet TABLE 2>/dev/null || true
                        ip link del UPLINK 2>/dev/null || true
                        ip netns del NAMESPACE 2>/dev/null || true
                        """));
    }
}
