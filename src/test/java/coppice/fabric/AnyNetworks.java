package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.identity.AccountId;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.NewRule;
import coppice.network.Nic;
import coppice.network.Rule;
import coppice.network.RuleId;
import coppice.network.Vpc;
import coppice.network.VpcId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// What an account may have, without anything behind it: networks that may overlap, VMs in them and alone, and rules.
record AnyNetworks(Random random, Optional<Cidr> prefix) {
    private static final int MOST_RULES = 30;

    AccountNetworks next() {
        var account = AccountId.random();
        var vpcs = new LinkedHashMap<VpcId, Vpc>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            var vpc = vpc(account);
            vpcs.put(vpc.id(), vpc);
        }
        var nics = new LinkedHashMap<MemberId, Nic>();
        int most = random.nextInt(1 << (1 + random.nextInt(6)));
        for (int slot = 1; slot <= 1 + most; slot++) {
            var vm = new MemberId("vm-" + slot);
            var at = slot * 131;
            nics.put(
                    vm,
                    new Nic(
                            vm,
                            account,
                            at,
                            prefix.map(range -> range.first().plus(at)),
                            membership(List.copyOf(vpcs.values()), slot)));
        }
        return withRules(account, new AccountNetworks(vpcs, nics, Map.of(), List.of()));
    }

    /// The same with some rules less, and some more: now and then with very many.
    AccountNetworks changed(AccountNetworks networks) {
        var rules = new ArrayList<>(networks.rules());
        rules.removeIf(_ -> random.nextInt(8) == 0);
        int more = random.nextInt(5) == 0 ? 150 : random.nextInt(3);
        for (int i = 0; i < more; i++) {
            rules.add(rule(networks.nics().values().iterator().next().account(), networks));
        }
        return networks.withRules(rules);
    }

    private Vpc vpc(AccountId account) {
        var v4 = Cidr.around(IpAddress.v4((10L << 24) + (random.nextInt(2) << 16)), 16);
        var v6 = new Cidr(IpAddress.v6(0xfdL << 56 | random.nextInt(2), 0), 64);
        return new Vpc(
                VpcId.random(), account, v4, v6, Optional.empty(), Optional.empty(), Instant.EPOCH);
    }

    private Optional<Membership> membership(List<Vpc> vpcs, int slot) {
        var vpc = vpcs.get(random.nextInt(vpcs.size()));
        return random.nextInt(4) == 0
                ? Optional.empty()
                : Optional.of(
                        new Membership(
                                vpc.id(),
                                address(vpc.cidr(), slot),
                                address(vpc.cidrV6(), slot + 1),
                                List.of()));
    }

    private Optional<IpAddress> address(Cidr range, int number) {
        return random.nextInt(5) == 0 ? Optional.empty() : Optional.of(range.first().plus(number));
    }

    private AccountNetworks withRules(AccountId account, AccountNetworks networks) {
        var rules = new ArrayList<Rule>();
        for (int i = random.nextInt(MOST_RULES); i > 0; i--) {
            rules.add(rule(account, networks));
        }
        return networks.withRules(rules);
    }

    private Rule rule(AccountId account, AccountNetworks networks) {
        var strangers = List.of(Ground.INTERNET, Ground.INTERNET_V6);
        NewRule rule = new RandomRules(random, strangers).rule(networks);
        return new Rule(
                RuleId.random(),
                account,
                rule.source(),
                rule.destination(),
                rule.description(),
                Instant.EPOCH);
    }
}
