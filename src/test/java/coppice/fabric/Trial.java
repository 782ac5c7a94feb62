package coppice.fabric;

import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.Firewall;
import coppice.network.Nic;
import coppice.network.Protocol;
import coppice.network.Rule;
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
        /// What no rule can permit.
        NEVER
    }

    /// By the procedure that everybody uses: each account whose VM it is about must let it pass.
    boolean isAllowedByModel(Function<AccountId, List<Rule>> rules) {
        return switch (kind) {
            case NEVER -> false;
            case NAMES -> true;
            case MEMBER, ELSEWHERE, OUT, IN, PLATFORM ->
                    owners().allMatch(
                                    account ->
                                            Firewall.evaluate(
                                                            rules.apply(account),
                                                            from.party(
                                                                    account,
                                                                    port(flow.sourcePort())),
                                                            to.party(
                                                                    account,
                                                                    port(flow.destinationPort())),
                                                            Optional.of(flow.protocol()))
                                                    .isAllowed());
        };
    }

    private Stream<AccountId> owners() {
        return Stream.concat(from.owners(), to.owners()).distinct();
    }

    private Optional<Integer> port(int number) {
        return flow.protocol().hasPorts() ? Optional.of(number) : Optional.empty();
    }

    /// By the contract's text.
    boolean isAllowedByReading(Function<AccountId, List<Rule>> rules) {
        return switch (kind) {
            case NEVER -> false;
            case NAMES, PLATFORM -> true;
            case MEMBER, ELSEWHERE, OUT, IN ->
                    owners().allMatch(
                                    account ->
                                            Reading.permits(
                                                    rules.apply(account),
                                                    facts(account, from, flow.sourcePort()),
                                                    facts(account, to, flow.destinationPort()),
                                                    flow.protocol()));
        };
    }

    private static Reading.Facts facts(AccountId account, End end, int port) {
        return end instanceof End.AtVm vm && vm.nic().account().equals(account)
                ? Reading.Facts.of(vm, port)
                : Reading.Facts.of(end.address(), port);
    }

    /// As whom the other end sees whoever opened it; of an echo there is no such thing.
    IpAddress peer(FabricSettings settings) {
        if (flow.protocol() == Protocol.ICMP) {
            return flow.destination();
        }
        if (flow.source().isV6() || kind == Kind.MEMBER || kind == Kind.PLATFORM) {
            return flow.source();
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
                        to.address(),
                        flow.destinationPort()));
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
