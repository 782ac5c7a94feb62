package coppice.network;

import coppice.base.Cidr;
import java.util.Optional;

/// What a rule says about one end of a connection. All that is stated must hold.
///
/// @param isPublic whether it must be a publicly routable address
/// @param port needs a protocol that has ports
public record Matcher(
        Optional<MemberId> vm,
        Optional<VpcId> vpc,
        Optional<TunnelId> tunnel,
        Optional<Cidr> cidr,
        boolean isPublic,
        Optional<Integer> port,
        Optional<Protocol> protocol) {

    /// Says nothing.
    public static final Matcher BARE =
            new Matcher(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    false,
                    Optional.empty(),
                    Optional.empty());

    /// Every publicly routable address.
    public static final Matcher INTERNET =
            new Matcher(
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    true,
                    Optional.empty(),
                    Optional.empty());

    /// The same without port and protocol.
    public Matcher who() {
        return port.isEmpty() && protocol.isEmpty()
                ? this
                : new Matcher(vm, vpc, tunnel, cidr, isPublic, Optional.empty(), Optional.empty());
    }

    /// Whether it says nothing about who it is. Inside of a create it stands for what is being created.
    public boolean isBare() {
        return vm.isEmpty() && vpc.isEmpty() && tunnel.isEmpty() && cidr.isEmpty() && !isPublic;
    }

    /// A bare one, made to name this VM; any other as it is.
    public Matcher meaning(MemberId self) {
        return isBare()
                ? new Matcher(Optional.of(self), vpc, tunnel, cidr, isPublic, port, protocol)
                : this;
    }

    /// A bare one, made to name this network; any other as it is.
    public Matcher meaning(VpcId self) {
        return isBare()
                ? new Matcher(vm, Optional.of(self), tunnel, cidr, isPublic, port, protocol)
                : this;
    }

    boolean names(Named thing) {
        return switch (thing) {
            case Named.Member(var id) -> vm.equals(Optional.of(id));
            case Named.Network(var id) -> vpc.equals(Optional.of(id));
            case Named.Passage(var id) -> tunnel.equals(Optional.of(id));
        };
    }
}
