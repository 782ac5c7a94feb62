package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Nic;
import coppice.network.VpcId;
import java.util.stream.Stream;

/// Where a segment is: a private network, or beside all of them with one VM.
sealed interface Place {
    /// The id that its namespace is named after.
    String name();

    /// A private network.
    record InVpc(VpcId vpc) implements Place {
        @Override
        public String name() {
            return vpc.text();
        }
    }

    /// One VM.
    record Alone(MemberId vm) implements Place {
        @Override
        public String name() {
            return vm.text();
        }
    }

    static Place of(Nic nic) {
        return nic.membership()
                .<Place>map(membership -> new InVpc(membership.vpc()))
                .orElse(new Alone(nic.vm()));
    }

    default boolean holds(Nic nic) {
        return of(nic).equals(this);
    }

    /// The VMs that are here, of all that an account has.
    default Stream<Nic> nics(AccountNetworks networks) {
        return switch (this) {
            case InVpc(var vpc) -> networks.members(vpc);
            case Alone(var vm) -> networks.nic(vm).filter(this::holds).stream();
        };
    }

    /// The addresses by which a VM is known here. Elsewhere it is known by its public one only.
    default Stream<IpAddress> addresses(Nic nic) {
        var known = nic.publicIpv6().stream();
        return holds(nic)
                ? Stream.of(known, privateAddresses(nic), Stream.of(linkLocal(nic)))
                        .flatMap(addresses -> addresses)
                : known;
    }

    /// The one that Linux makes of a MAC address (RFC 4291, appendix A).
    static IpAddress linkLocal(Nic nic) {
        long slot = Integer.toUnsignedLong(nic.slot());
        long high = 0x00c0L << 48 | (slot >>> 24 & 0xff) << 40;
        return IpAddress.v6(0xfe80L << 48, high | 0xfffe000000L | slot & 0xffffff);
    }

    /// What a VM has beside its public address.
    static Stream<IpAddress> privateAddresses(Nic nic) {
        return nic.membership().map(m -> m.addresses()).orElse(Stream.of(Fabric.SOLO));
    }
}
