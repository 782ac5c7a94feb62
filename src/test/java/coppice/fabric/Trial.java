package coppice.fabric;

import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.Firewall;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.Tunnel;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/// A connection that is tried, and everything that decides what becomes of it.
///
/// @param prober who opens it
/// @param listener whoever is to hear nothing of it when it is refused
record Trial(Kind kind, Flow flow, Probe prober, Optional<Probe> listener, End from, End to) {

    enum Kind {
        /// Inside of one private network, by any addresses.
        MEMBER,
        /// From a VM to one that is in another network, or another account's.
        ELSEWHERE,
        /// From a VM to the Internet.
        OUT,
        /// From the Internet to a VM.
        IN,
        /// From the service to a VM, by its slot.
        PLATFORM,
        /// From a VM to its name server.
        NAMES,
        /// From behind a tunnel to a VM.
        FROM_TUNNEL,
        /// From a VM to whoever is behind a tunnel.
        TO_TUNNEL,
        /// From behind one tunnel to behind another one, within a network.
        BETWEEN_TUNNELS,
        /// What no rule can permit.
        NEVER,
        /// The same, of tunnels.
        NEVER_BY_TUNNEL;

        boolean isPossible() {
            return this != NEVER && this != NEVER_BY_TUNNEL;
        }

        boolean isInOneNetwork() {
            return switch (this) {
                case MEMBER, FROM_TUNNEL, TO_TUNNEL, BETWEEN_TUNNELS -> true;
                case ELSEWHERE, OUT, IN, PLATFORM, NAMES, NEVER, NEVER_BY_TUNNEL -> false;
            };
        }
    }

    /// The same by another flow.
    Trial with(Flow other) {
        return new Trial(kind, other, prober, listener, from, to);
    }

    /// By the procedure that everybody uses: each account whose VM it is about must let it pass.
    boolean isAllowedByModel(Function<AccountId, List<Rule>> rules) {
        return kind.isPossible()
                && (kind == Kind.NAMES
                        || owners().allMatch(
                                        account -> isPermitted(account, rules.apply(account))));
    }

    /// Whether an account with these rules lets it pass.
    boolean isPermitted(AccountId account, List<Rule> rules) {
        return Firewall.evaluate(
                        rules,
                        from.party(account, port(flow.sourcePort())),
                        to.party(account, port(flow.destinationPort())),
                        Optional.of(flow.protocol()))
                .isAllowed();
    }

    Stream<AccountId> owners() {
        return Stream.concat(from.owners(), to.owners()).distinct();
    }

    private Optional<Integer> port(int number) {
        return flow.protocol().hasPorts() ? Optional.of(number) : Optional.empty();
    }

    /// By the contract's text.
    boolean isAllowedByReading(Function<AccountId, List<Rule>> rules) {
        return kind.isPossible()
                && (kind == Kind.NAMES
                        || kind == Kind.PLATFORM
                        || owners().allMatch(
                                        account ->
                                                Reading.permits(
                                                        rules.apply(account),
                                                        facts(account, from, flow.sourcePort()),
                                                        facts(account, to, flow.destinationPort()),
                                                        flow.protocol())));
    }

    private static Reading.Facts facts(AccountId account, End end, int port) {
        return switch (end) {
            case End.AtVm vm when vm.nic().account().equals(account) -> Reading.Facts.of(vm, port);
            case End.BehindTunnel behind -> Reading.Facts.of(behind, port);
            case End.AtVm _, End.Outside _, End.Platform _ -> Reading.Facts.of(end.address(), port);
        };
    }

    /// As whom the other end sees whoever opened it; of an echo there is no such thing.
    IpAddress peer(FabricSettings settings) {
        if (flow.protocol() == Protocol.ICMP) {
            return flow.destination();
        }
        if (flow.source().isV6() || kind.isInOneNetwork() || kind == Kind.PLATFORM) {
            return from.address();
        }
        return from instanceof End.AtVm vm && kind == Kind.NAMES
                ? settings.slot(vm.nic().slot())
                : Ground.HOST;
    }

    /// Whether a frame is of it.
    boolean isIn(Frame frame) {
        return frame.contains("ask " + flow.id())
                || (flow.protocol() != Protocol.ICMP
                        && frame.packet().filter(this::isOf).isPresent());
    }

    private boolean isOf(Frame.Packet packet) {
        return packet.equals(
                new Frame.Packet(
                        flow.protocol() == Protocol.TCP ? Frame.TCP : Frame.UDP,
                        from.address(),
                        flow.sourcePort(),
                        to.inner(),
                        flow.destinationPort()));
    }

    /// The tunnels that it is about.
    Stream<Tunnel> tunnels() {
        return Stream.of(from, to)
                .flatMap(
                        end ->
                                end instanceof End.BehindTunnel behind
                                        ? Stream.of(behind.tunnel())
                                        : Stream.empty());
    }

    boolean isAbout(Nic nic) {
        return Stream.of(from, to)
                .anyMatch(end -> end instanceof End.AtVm vm && vm.nic().equals(nic));
    }

    @Override
    public String toString() {
        return "%s: %s".formatted(kind, flow);
    }
}
