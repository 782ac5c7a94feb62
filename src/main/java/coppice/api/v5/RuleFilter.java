package coppice.api.v5;

import coppice.api.Query;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Named;
import coppice.network.Nic;
import coppice.network.Rule;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Which rules a list has: those that every filter selects.
///
/// @param vm rules that name it, or a network that it is in now
record RuleFilter(Optional<String> vm, Optional<String> vpc, Optional<String> tunnel) {

    static RuleFilter of(Query query) {
        return new RuleFilter(query.text("vmId"), query.text("vpcId"), query.text("tunnelId"));
    }

    /// With ids in place of names; `NOT_FOUND` for what is absent.
    Predicate<Rule> named(Names names) {
        var ofVm = vm.map(name -> naming(names.vm("vmId", name), names.networks()));
        var ofVpc =
                vpc.map(name -> names.vpc("vpcId", name).id())
                        .map(id -> naming(new Named.Network(id)));
        var ofTunnel =
                tunnel.map(name -> names.tunnel("tunnelId", name).id())
                        .map(id -> naming(new Named.Passage(id)));
        return Stream.of(ofVm, ofVpc, ofTunnel)
                .flatMap(Optional::stream)
                .reduce(_ -> true, Predicate::and);
    }

    private static Predicate<Rule> naming(Named thing) {
        return rule -> rule.names(thing);
    }

    private static Predicate<Rule> naming(MemberId vm, AccountNetworks networks) {
        var itself = naming(new Named.Member(vm));
        return networks.nic(vm)
                .flatMap(Nic::membership)
                .map(Membership::vpc)
                .map(vpc -> itself.or(naming(new Named.Network(vpc))))
                .orElse(itself);
    }
}
