package coppice.fabric;

import coppice.base.Cidr;
import coppice.fabric.Lab.Guest;
import coppice.identity.AccountId;
import coppice.network.Named;
import coppice.network.NewAttachment;
import coppice.network.NewTunnel;
import coppice.network.NewVpc;
import coppice.network.Rule;
import coppice.network.Tunnel;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import coppice.network.Wanted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// Changes of everything that steady flows do not need: rules, networks, VMs and tunnels come and go.
final class RandomChanges {
    private static final int MOST_RULES = 40;
    private static final int MOST_OTHERS = 3;

    private final Random random;
    private final Lab lab;
    private final List<AccountId> accounts;
    private final SteadyFlows flows;

    /// A tunnel that flows do need.
    private final Tunnel steady;

    private final List<Guest> guests = new ArrayList<>();
    private final Map<VpcId, AccountId> vpcs = new HashMap<>();
    private final Map<TunnelId, AccountId> tunnels = new HashMap<>();
    private final Map<String, Integer> made = new java.util.TreeMap<>();

    RandomChanges(
            Random random, Lab lab, List<AccountId> accounts, SteadyFlows flows, Tunnel steady) {
        this.random = random;
        this.lab = lab;
        this.accounts = accounts;
        this.flows = flows;
        this.steady = steady;
    }

    void next() {
        int kind = random.nextInt(40);
        if (kind < 14) {
            counted("rule", this::addRule);
        } else if (kind < 26) {
            counted("no rule", this::deleteRule);
        } else if (kind < 29) {
            counted("network", this::changeNetworks);
        } else if (kind < 32) {
            counted("VM", this::changeGuests);
        } else if (kind < 35) {
            counted("tunnel", this::changeTunnels);
        } else if (kind < 37) {
            counted("place", this::changePlaces);
        } else if (kind < 39) {
            counted("cut", flows::cutOne);
        } else {
            counted("restart", () -> lab.restart(lab.guests()));
        }
    }

    private void counted(String what, Runnable change) {
        change.run();
        flows.assertAllGoOn(what);
        made.merge(what, 1, Integer::sum);
    }

    /// How many there were of what.
    Map<String, Integer> made() {
        return made;
    }

    private void addRule() {
        var account = any(accounts);
        if (rules(account).size() < MOST_RULES) {
            var strangers = List.of(Ground.INTERNET, Ground.INTERNET_V6);
            var rule = new RandomRules(random, strangers).rule(lab.networks().of(account));
            lab.networks().createRule(account, rule);
        }
    }

    private void deleteRule() {
        var account = any(accounts);
        if (!rules(account).isEmpty()) {
            flows.delete(account, List.of(any(rules(account))));
        }
    }

    private List<Rule> rules(AccountId account) {
        return lab.networks().of(account).rules();
    }

    private void changeNetworks() {
        var unused = vpcs.keySet().stream().filter(vpc -> isEmpty(vpc)).toList();
        if (vpcs.size() < MOST_OTHERS || unused.isEmpty()) {
            var account = any(accounts);
            var networks = lab.networks().of(account);
            var rules = new RandomRules(random, List.of(Ground.INTERNET, Ground.INTERNET_V6));
            var wanted =
                    new NewVpc(
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            List.of(rules.inline(networks, true)));
            vpcs.put(lab.networks().createVpc(account, wanted).vpc().id(), account);
        } else {
            var vpc = any(unused);
            var account = vpcs.remove(vpc);
            coverWithout(account, new Named.Network(vpc));
            lab.networks().deleteVpc(account, vpc.text());
        }
    }

    private boolean isEmpty(VpcId vpc) {
        return guests.stream().noneMatch(guest -> guest.nic().isIn(vpc));
    }

    private void coverWithout(AccountId account, Named thing) {
        flows.cover(account, rules(account).stream().filter(rule -> rule.names(thing)).toList());
    }

    /// Also in the networks through which flows go.
    private void changeGuests() {
        if (guests.size() < MOST_OTHERS) {
            var account = any(accounts);
            var places = List.copyOf(lab.networks().of(account).vpcs().keySet());
            guests.add(
                    random.nextInt(3) == 0
                            ? Given.alone(lab, account)
                            : Given.member(lab, account, any(places)));
        } else {
            var guest = guests.remove(random.nextInt(guests.size()));
            coverWithout(guest.nic().account(), new Named.Member(guest.vm()));
            lab.leave(guest);
        }
    }

    private void changeTunnels() {
        if (tunnels.size() < MOST_OTHERS) {
            var account = any(accounts);
            var places = List.copyOf(lab.networks().of(account).vpcs().keySet());
            var wanted =
                    new NewTunnel(
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            NewTunnel.USUAL_ROUTES,
                            List.of(place(any(places))));
            tunnels.put(lab.tunnels().create(account, wanted).tunnel().id(), account);
        } else {
            var tunnel = any(List.copyOf(tunnels.keySet()));
            var account = tunnels.remove(tunnel);
            coverWithout(account, new Named.Passage(tunnel));
            lab.tunnels().delete(account, tunnel.text());
        }
    }

    private NewAttachment place(VpcId vpc) {
        var remote = List.of(Cidr.stored("172.21.0.0/16"), Cidr.stored("fd00:dd::/64"));
        var any = new Wanted.Any();
        var isTaken =
                lab.networks()
                        .all()
                        .flatMap(networks -> networks.tunnelsOf(vpc))
                        .flatMap(tunnel -> tunnel.attachment(vpc).stream())
                        .anyMatch(attachment -> attachment.remote().contains(remote.getFirst()));
        return new NewAttachment(
                "", vpc.text(), any, any, isTaken ? List.of() : remote, random.nextBoolean());
    }

    /// The steady tunnel has another network beside its own, or has it no more.
    private void changePlaces() {
        var account = steady.account();
        var tunnel = lab.tunnels().get(account, steady.id().text());
        if (tunnel.attachments().size() > 1) {
            var vpc = tunnel.attachments().getLast().vpc();
            lab.tunnels().detach(account, tunnel.id().text(), vpc.text());
        } else {
            vpcs.keySet().stream()
                    .filter(vpc -> vpcs.get(vpc).equals(account))
                    .findFirst()
                    .ifPresent(
                            vpc -> lab.tunnels().attach(account, tunnel.id().text(), place(vpc)));
        }
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }
}
