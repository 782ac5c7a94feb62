package coppice.fabric;

import coppice.base.IpAddress;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The hub's routes to the VMs of one segment.
record Ways(Place place, FabricSettings settings) {
    /// The hub's end of what leads to a segment. Ids are random, so their beginnings are too.
    static String device(String place) {
        var random = place.substring(place.indexOf('-') + 1);
        return "v" + random.substring(0, Math.min(random.length(), 14));
    }

    /// The addresses by which a VM is reached from there.
    List<IpAddress> to(Tap tap) {
        return Stream.concat(
                        Stream.of(settings.slot(tap.nic().slot())), tap.nic().publicIpv6().stream())
                .toList();
    }

    /// Lines of `ip`.
    String made(Tap tap) {
        return to(tap).stream()
                .map(
                        address ->
                                "route replace %s via %s dev %s%s\n"
                                        .formatted(
                                                address,
                                                address.isV6() ? "fe80::2" : "169.254.0.2",
                                                device(place.name()),
                                                address.isV6() ? "" : " onlink"))
                .collect(Collectors.joining());
    }

    /// Lines of shell that are run anywhere.
    String removed(Collection<IpAddress> addresses) {
        return addresses.stream()
                .map(
                        address ->
                                "ip -n %s route del %s dev %s 2>/dev/null || true\n"
                                        .formatted(
                                                settings.namespace(Hub.NAME),
                                                address,
                                                device(place.name())))
                .collect(Collectors.joining());
    }

    /// Lines of shell, run anywhere, that run these of `ip` in the hub.
    static String inHub(FabricSettings settings, String lines) {
        return lines.isEmpty()
                ? ""
                : "ip -n %s -batch - <<END\n%sEND\n".formatted(settings.namespace(Hub.NAME), lines);
    }
}
