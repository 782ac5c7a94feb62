package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.Optional;

/// What the networks of this host's VMs are made of.
///
/// @param instance names the data directory: what is made carries it, so that servers on one machine do not take each other's
/// @param slots addresses by which the platform reaches VMs; no other server of this machine may have the same
/// @param ipv6 the public range of which each VM has an address
/// @param mtu of everything
/// @param connections that one VM may have at once
/// @param host the network namespace that is the host's side; absent: the server's own
public record FabricSettings(
        String instance,
        Cidr slots,
        Optional<Cidr> ipv6,
        int mtu,
        int connections,
        Optional<String> host) {

    Script script() {
        return new Script(host);
    }

    /// The host's own address towards its VMs.
    public IpAddress platform() {
        return slots.last().previous();
    }

    IpAddress hub() {
        return slots.last().previous().previous();
    }

    public IpAddress slot(int number) {
        return slots.first().plus(number);
    }

    String namespace(String name) {
        return namespace(instance, name);
    }

    static String namespace(String instance, String name) {
        return "coppice-%s-%s".formatted(instance, name);
    }

    /// The host's interface towards its VMs. The kernel allows 15 characters.
    String uplink() {
        return "cp" + instance.substring(0, Math.min(instance.length(), 12));
    }

    String table() {
        return "coppice-" + instance;
    }
}
