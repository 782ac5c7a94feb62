package coppice.fabric;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.Deadline;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Protocol;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What rules, networks, VMs and tunnels that come and go do to connections that stay. `-Dcoppice.flow.seconds=60` is a long run.
class SteadyFlowsIT {
    private static final Duration TIME =
            Duration.ofSeconds(Integer.getInteger("coppice.flow.seconds", 6));

    private static final List<Cidr> REMOTE =
            Stream.of("172.20.0.0/24", "fd00:cc::/64").map(Cidr::stored).toList();

    private final AccountId account = AccountId.random();
    private final AccountId stranger = AccountId.random();

    @Test
    void aFlowLosesNothingWhileARulePermitsItAndIsCutAtOnceWhenNoneDoes() {
        var random = Seed.random(SteadyFlowsIT.class);
        try (var lab = new Lab()) {
            var vpc = Given.vpc(lab, account, "10.6.0.0/24");
            var guest = Given.member(lab, account, vpc);
            var member = Given.member(lab, account, vpc);
            var alone = Given.alone(lab, account);
            var foreign = Given.alone(lab, stranger);
            Given.vpc(lab, stranger, "10.6.0.0/24");
            var seat = Given.seat(lab, account, vpc, REMOTE, false);
            Given.routes(lab, seat);
            var flows = new SteadyFlows(random, lab);
            var changes =
                    new RandomChanges(
                            random, lab, List.of(account, stranger), flows, seat.tunnel());
            Stream.of(
                            members(guest, member),
                            others(lab, guest, alone, foreign),
                            tunneled(seat, guest, member))
                    .flatMap(each -> each)
                    .forEach(flows::begin);
            var deadline = Deadline.in(TIME);
            while (!deadline.isPast()) {
                changes.next();
            }
            System.out.printf("%s; changes: %s%n", flows.end(), changes.made());
        }
    }

    private static Stream<Trial> members(Guest guest, Guest member) {
        return Stream.of(
                        pair(guest.ipv4(), member.ipv4()),
                        pair(guest.privateIpv6(), member.privateIpv6()),
                        pair(guest.publicIpv6(), member.publicIpv6()))
                .flatMap(
                        pair ->
                                both(
                                        Trial.Kind.MEMBER,
                                        guest.probe(),
                                        new End.AtVm(guest.nic(), pair.getFirst()),
                                        new End.AtVm(member.nic(), pair.getLast())));
    }

    private static List<IpAddress> pair(IpAddress from, IpAddress to) {
        return List.of(from, to);
    }

    private static Stream<Trial> others(Lab lab, Guest guest, Guest alone, Guest foreign) {
        var at = new End.AtVm(guest.nic(), guest.publicIpv6());
        return Stream.of(
                        both(
                                Trial.Kind.ELSEWHERE,
                                guest.probe(),
                                at,
                                new End.AtVm(alone.nic(), alone.publicIpv6())),
                        both(
                                Trial.Kind.ELSEWHERE,
                                foreign.probe(),
                                new End.AtVm(foreign.nic(), foreign.publicIpv6()),
                                at),
                        both(
                                Trial.Kind.OUT,
                                guest.probe(),
                                new End.AtVm(guest.nic(), guest.ipv4()),
                                new End.Outside(Ground.INTERNET)),
                        both(
                                Trial.Kind.OUT,
                                alone.probe(),
                                new End.AtVm(alone.nic(), alone.publicIpv6()),
                                new End.Outside(Ground.INTERNET_V6)),
                        both(
                                Trial.Kind.IN,
                                lab.ground().internet(),
                                new End.Outside(Ground.INTERNET_V6),
                                at))
                .flatMap(each -> each);
    }

    private static Stream<Trial> tunneled(Seat seat, Guest guest, Guest member) {
        return seat.all()
                .flatMap(
                        behind -> {
                            boolean isV6 = behind.address().isV6();
                            var in = isV6 ? guest.privateIpv6() : guest.ipv4();
                            var out = isV6 ? member.privateIpv6() : member.ipv4();
                            return Stream.concat(
                                    both(
                                            Trial.Kind.FROM_TUNNEL,
                                            seat.client().probe(),
                                            behind,
                                            new End.AtVm(guest.nic(), in)),
                                    both(
                                            Trial.Kind.TO_TUNNEL,
                                            member.probe(),
                                            new End.AtVm(member.nic(), out),
                                            behind));
                        });
    }

    /// By UDP and by TCP.
    private static Stream<Trial> both(Trial.Kind kind, Probe prober, End from, End to) {
        return Stream.of(Protocol.UDP, Protocol.TCP)
                .map(
                        protocol ->
                                new Trial(
                                        kind,
                                        Flow.of(protocol, from.inner(), 0, to.address(), 80),
                                        prober,
                                        Optional.empty(),
                                        from,
                                        to));
    }
}
