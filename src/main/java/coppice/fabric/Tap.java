package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.Nic;
import java.util.List;
import java.util.stream.Stream;

/// The port of a VM in its segment.
record Tap(Nic nic, Holder holder) {
    /// The kernel allows 15 characters.
    String name() {
        return "tap" + Integer.toHexString(nic.slot());
    }

    /// Makes the device, down, in the namespace that this is run in.
    String making() {
        return switch (holder) {
            case Holder.User(int number) ->
                    "tuntap add dev %s mode tap user %d".formatted(name(), number);
            case Holder.Namespace(var guest) ->
                    "link add %s type veth peer name eth0 address %s netns %s"
                            .formatted(name(), nic.mac(), guest);
        };
    }

    /// All that it may speak as, but its link-local one.
    List<IpAddress> addresses() {
        return Stream.concat(Place.privateAddresses(nic), nic.publicIpv6().stream()).toList();
    }

    Station station() {
        return new Station(name(), nic.mac(), addresses(), Place.linkLocal(nic));
    }
}
