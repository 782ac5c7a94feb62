package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.NewMembership;
import coppice.network.NewRule;
import coppice.network.NewVpc;
import coppice.network.Rule;
import coppice.network.VpcId;
import coppice.network.Wanted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Accounts with networks, VMs and rules, all at random.
final class World {
    private static final int RULES = 18;

    /// Of everybody's first network.
    private static final Optional<Cidr> SHARED = Optional.of(Cidr.stored("10.1.0.0/24"));

    private static final Optional<Cidr> SHARED_V6 = Optional.of(Cidr.stored("fd00:aa::/64"));

    /// Of the second one: the same once more, one around it, and another one.
    private static final List<Optional<Cidr>> SECOND =
            List.of(
                    SHARED,
                    Optional.of(Cidr.stored("10.1.0.0/16")),
                    Optional.of(Cidr.stored("192.168.7.16/28")));

    private final Random random;
    private final Lab lab;
    private final List<AccountId> accounts = Stream.generate(AccountId::random).limit(3).toList();
    private final RandomTunnels tunnels;

    World(Random random, Lab lab) {
        this.random = random;
        this.lab = lab;
        for (var account : accounts) {
            var first = vpc(account, SHARED, SHARED_V6);
            var second = vpc(account, SECOND.get(accounts.indexOf(account)), Optional.empty());
            // Apart from both, so that a tunnel can have it beside one of them.
            var third = vpc(account, Optional.empty(), Optional.empty());
            for (var place : List.of(first, first, first, second, second, third)) {
                join(account, Optional.of(place), inline(account, false));
            }
            join(account, Optional.empty(), inline(account, false));
        }
        tunnels = new RandomTunnels(random, lab, accounts);
        accounts.forEach(this::fill);
    }

    RandomTunnels tunnels() {
        return tunnels;
    }

    private VpcId vpc(AccountId account, Optional<Cidr> v4, Optional<Cidr> v6) {
        return lab.networks()
                .createVpc(
                        account,
                        new NewVpc(
                                v4, v6, Optional.empty(), Optional.empty(), inline(account, true)))
                .vpc()
                .id();
    }

    /// A bare end is followed by another one that names something, so there has to be something.
    private List<NewRule> inline(AccountId account, boolean mayHaveTwo) {
        var networks = lab.networks().of(account);
        return networks.vpcs().isEmpty()
                ? List.of()
                : IntStream.range(0, random.nextInt(3))
                        .mapToObj(_ -> rules().inline(networks, mayHaveTwo))
                        .toList();
    }

    private void join(AccountId account, Optional<VpcId> vpc, List<NewRule> rules) {
        lab.guest(
                account,
                vpc.map(
                        id ->
                                new NewMembership(
                                        "vpcs[0]",
                                        id,
                                        random.nextInt(8) == 0
                                                ? new Wanted.None()
                                                : new Wanted.Any(),
                                        random.nextInt(8) == 0
                                                ? new Wanted.None()
                                                : new Wanted.Any(),
                                        List.of())),
                rules.toArray(NewRule[]::new));
    }

    private RandomRules rules() {
        var strangers = new ArrayList<IpAddress>();
        strangers.add(Ground.INTERNET);
        strangers.add(Ground.INTERNET_V6);
        lab.guests().forEach(guest -> strangers.add(guest.publicIpv6()));
        return new RandomRules(random, strangers);
    }

    private void fill(AccountId account) {
        while (rules(account).size() < RULES) {
            lab.networks().createRule(account, rules().rule(lab.networks().of(account)));
        }
    }

    List<Rule> rules(AccountId account) {
        return lab.networks().of(account).rules();
    }

    /// VMs come and go, tunnels do, rules go, rules come, and all of that: one after the other, so that each has to be enough to be
    /// noticed.
    void change(int round) {
        switch (round % 6) {
            case 0 -> exchange(false);
            case 1, 4 -> tunnels.change();
            case 2 -> accounts.forEach(this::delete);
            case 3 -> accounts.forEach(this::fill);
            default -> {
                accounts.forEach(this::delete);
                exchange(true);
                tunnels.change();
                accounts.forEach(this::fill);
            }
        }
    }

    private void exchange(boolean hasRules) {
        lab.leave(rules().any(lab.guests()));
        var account = rules().any(accounts);
        var vpcs = List.copyOf(lab.networks().of(account).vpcs().keySet());
        join(
                account,
                random.nextInt(4) == 0 ? Optional.empty() : Optional.of(rules().any(vpcs)),
                hasRules ? inline(account, false) : List.of());
    }

    private void delete(AccountId account) {
        for (var rule : rules(account)) {
            if (random.nextInt(3) == 0) {
                lab.networks().deleteRule(account, rule.id().text());
            }
        }
    }

    /// Everything that decides, for whoever has to find out.
    String story() {
        var lines = new StringBuilder();
        for (var account : accounts) {
            lines.append("account ").append(account).append('\n');
            lab.guests().stream()
                    .map(Guest::nic)
                    .filter(nic -> nic.account().equals(account))
                    .forEach(nic -> lines.append("  ").append(nic).append('\n'));
            rules(account).forEach(rule -> lines.append("  ").append(rule).append('\n'));
        }
        return lines.append(tunnels.story()).toString();
    }
}
