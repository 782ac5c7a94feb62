package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.network.Tunnel;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What nftables has to know in the namespace of a tunnel: the client is in each network what its attachment is there, and comes from
/// nowhere but from behind itself. What it may reach, the segments of the networks say.
final class PassageRules {
    private static final String TEXT =
            """
            table inet passage
            flush table inet passage
            table inet passage {
              chain to_client {
                type nat hook prerouting priority dstnat;
            TO_CLIENT  }
              chain from_client {
                type nat hook postrouting priority srcnat;
            FROM_CLIENT  }
              chain input {
                type filter hook input priority filter; policy drop;
                icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
              }
              chain forward {
                type filter hook forward priority filter; policy drop;
                ct state established,related accept
            FORWARD  }
            }
            """;

    private final Tunnel tunnel;
    private final List<Mouth> mouths;
    private final FabricSettings settings;

    PassageRules(Tunnel tunnel, List<Mouth> mouths, FabricSettings settings) {
        this.tunnel = tunnel;
        this.mouths = mouths;
        this.settings = settings;
    }

    String text() {
        return TEXT.replace("TO_CLIENT", each(this::toClient))
                .replace("FROM_CLIENT", each(this::fromClient))
                .replace("FORWARD", each(this::forward));
    }

    private String each(java.util.function.Function<Mouth, Stream<String>> lines) {
        return mouths.stream()
                .flatMap(lines)
                .map("    %s\n"::formatted)
                .collect(Collectors.joining());
    }

    private Stream<String> toClient(Mouth mouth) {
        return mouth.attachment()
                .addresses()
                .map(
                        address ->
                                "iifname \"%s\" %s daddr %s dnat %s to %s"
                                        .formatted(
                                                mouth.inner(),
                                                family(address.isV6()),
                                                address,
                                                family(address.isV6()),
                                                client(address.isV6())));
    }

    private Stream<String> fromClient(Mouth mouth) {
        return mouth.attachment()
                .addresses()
                .map(
                        address ->
                                "oifname \"%s\" %s saddr %s snat %s to %s"
                                        .formatted(
                                                mouth.inner(),
                                                family(address.isV6()),
                                                client(address.isV6()),
                                                family(address.isV6()),
                                                address));
    }

    private Stream<String> forward(Mouth mouth) {
        return Stream.of(false, true)
                .flatMap(
                        isV6 ->
                                behind(mouth, isV6)
                                        .map(
                                                ranges ->
                                                        Stream.of(
                                                                pass(mouth, isV6, "saddr", ranges),
                                                                pass(mouth, isV6, "daddr", ranges)))
                                        .orElse(Stream.of()));
    }

    private static String pass(Mouth mouth, boolean isV6, String side, Ranges ranges) {
        return "%s \"%s\" %s \"wg*\" %s %s { %s } accept"
                .formatted(
                        side.equals("saddr") ? "oifname" : "iifname",
                        mouth.inner(),
                        side.equals("saddr") ? "iifname" : "oifname",
                        family(isV6),
                        side,
                        ranges);
    }

    /// What is behind the client as far as a network is concerned. Behind an exit is everything but what is here.
    private Optional<Ranges> behind(Mouth mouth, boolean isV6) {
        var attachment = mouth.attachment();
        var ranges = attachment.remote().stream().filter(cidr -> cidr.isV6() == isV6).toList();
        var behind = Ranges.of(ranges);
        if (attachment.isExit()) {
            var here =
                    Stream.concat(
                                    Stream.of(isV6 ? attachment.cidrV6() : attachment.cidr()),
                                    isV6 ? settings.ipv6().stream() : Stream.of(settings.slots()))
                            .toList();
            behind = behind.plus(Ranges.all(isV6).minus(Ranges.of(here)));
        }
        if (attachment.addresses().anyMatch(address -> address.isV6() == isV6)) {
            behind = behind.plus(Ranges.of(Cidr.of(client(isV6))));
        }
        return Optional.of(behind).filter(b -> !b.isEmpty());
    }

    private IpAddress client(boolean isV6) {
        return isV6 ? tunnel.clientV6() : tunnel.clientV4();
    }

    private static String family(boolean isV6) {
        return isV6 ? "ip6" : "ip";
    }
}
