package coppice.fabric;

import coppice.base.Cidr;
import java.util.Optional;

/// What nftables has to know in the hub and on the host: things that no rule of a user can change.
final class HubRules {
    /// A table that goes drops what passes until its hooks are gone.
    private static final String EMPTYING_INSIDE =
            """
            table inet hub {
              set public4 { type ipv4_addr; flags interval; }
              set public6 { type ipv6_addr; flags interval; }
            }
            flush table inet hub
            flush set inet hub public4
            flush set inet hub public6
            """;

    private static final String EMPTYING_HOST =
            """
            table inet TABLE {
              set range6 { type ipv6_addr; flags interval; }
            }
            flush table inet TABLE
            flush set inet TABLE range6
            """;

    private static final String REMOVING =
            """
            table inet TABLE
            delete table inet TABLE
            """;

    private static final String INSIDE =
            """
            table inet hub {
              set public4 { type ipv4_addr; flags interval; elements = { PUBLIC4, PLATFORM } }
              set public6 { type ipv6_addr; flags interval; elements = { PUBLIC6 } }
              chain forward {
                type filter hook forward priority filter; policy accept;
                iifname "up0" accept
                fib saddr . iif oif missing drop
                ip daddr != @public4 drop
                ip6 daddr != @public6 drop
              }
              chain input {
                type filter hook input priority filter; policy drop;
                icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
                icmp type { destination-unreachable, time-exceeded } accept
              }
            }
            """;

    private static final String HOST =
            """
            table inet TABLE {
              set range6 { type ipv6_addr; flags interval; RANGE6 }
              set connections4 { type ipv4_addr; size 65535; flags dynamic; }
              set connections6 { type ipv6_addr; size 65535; flags dynamic; }
              chain spoofed {
                type filter hook prerouting priority raw; policy accept;
                iifname != { "UPLINK", "lo" } ip saddr SLOTS drop
                iifname != { "UPLINK", "lo" } ip6 saddr @range6 drop
              }
              chain input {
                type filter hook input priority filter; policy accept;
                iifname != "UPLINK" accept
                ct state established,related accept
                icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
                ip saddr SLOTS ip daddr PLATFORM meta l4proto { tcp, udp } th dport 53 accept
                drop
              }
              chain forward {
                type filter hook forward priority filter; policy accept;
                iifname "UPLINK" oifname "UPLINK" drop
                ct state new iifname "UPLINK" add @connections4 { ip saddr ct count over CONNECTIONS } drop
                ct state new iifname "UPLINK" add @connections6 { ip6 saddr ct count over CONNECTIONS } drop
                ct state new oifname "UPLINK" add @connections6 { ip6 daddr ct count over CONNECTIONS } drop
                iifname "UPLINK" ip saddr SLOTS accept
                iifname "UPLINK" ip6 saddr @range6 accept
                iifname "UPLINK" drop
                oifname "UPLINK" ct state established,related accept
                oifname "UPLINK" ip6 daddr @range6 accept
                oifname "UPLINK" drop
              }
              chain leaving {
                type nat hook postrouting priority srcnat; policy accept;
                iifname "UPLINK" ip saddr SLOTS masquerade
              }
            }
            """;

    private final FabricSettings settings;

    HubRules(FabricSettings settings) {
        this.settings = settings;
    }

    /// In the hub: a segment sends as its own VMs only, to the platform and to public addresses.
    ///
    /// @param isNew whether nothing of what is there can be kept
    String inside(boolean isNew) {
        var open = Public.of(settings.ipv6());
        return ((isNew ? REMOVING.replace("TABLE", "hub") : EMPTYING_INSIDE) + INSIDE)
                .replace("PUBLIC4", open.v4().toString())
                .replace("PUBLIC6", open.v6().toString())
                .replace("PLATFORM", settings.platform().toString());
    }

    /// The host lets its VMs out and their answers in, takes from them only questions to its name server, and believes no one else that
    /// has their addresses. Its table of connections is there for all, so none of them gets more than its share.
    ///
    /// @param isNew as above
    String host(boolean isNew) {
        return ((isNew ? REMOVING : EMPTYING_HOST) + HOST)
                .replace("TABLE", settings.table())
                .replace("UPLINK", settings.uplink())
                .replace("PLATFORM", settings.platform().toString())
                .replace("SLOTS", settings.slots().toString())
                .replace("CONNECTIONS", Integer.toString(settings.connections()))
                .replace("RANGE6", elements(settings.ipv6()));
    }

    private static String elements(Optional<Cidr> range) {
        return range.map("elements = { %s }"::formatted).orElse("");
    }
}
