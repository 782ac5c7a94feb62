package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.IpAddress;
import coppice.base.Slug;
import coppice.dns.LocalNames;
import coppice.fabric.Fabric;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Networks;
import coppice.network.Nic;
import coppice.network.VpcId;
import java.util.List;
import java.util.Optional;

/// What guests call each other: within a private network, VMs have the names that their slugs and their ids are.
public final class MemberNames implements LocalNames {
    private final Vms vms;
    private final Networks networks;
    private final Fabric fabric;

    public MemberNames(Vms vms, Networks networks, Fabric fabric) {
        this.vms = vms;
        this.networks = networks;
        this.fabric = fabric;
    }

    @Override
    public boolean isKnown(IpAddress client) {
        return fabric.at(client).isPresent();
    }

    @Override
    public Optional<List<IpAddress>> addresses(IpAddress client, String label) {
        return fabric.at(client)
                .flatMap(
                        nic ->
                                place(nic)
                                        .flatMap(vpc -> named(nic, label).filter(n -> n.isIn(vpc))))
                .flatMap(Nic::membership)
                .map(place -> place.addresses().toList());
    }

    private static Optional<VpcId> place(Nic nic) {
        return nic.membership().map(Membership::vpc);
    }

    private Optional<Nic> named(Nic asker, String label) {
        return vm(asker, label)
                .flatMap(vm -> networks.of(asker.account()).nic(new MemberId(vm.id().text())));
    }

    private Optional<Vm> vm(Nic asker, String name) {
        try {
            return Optional.of(vms.get(asker.account(), name));
        } catch (Failure e) {
            if (e.code() == Code.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    @Override
    public Optional<String> nameOf(IpAddress client, IpAddress address) {
        return fabric.at(client)
                .flatMap(
                        nic ->
                                place(nic)
                                        .flatMap(vpc -> holder(nic, vpc, address))
                                        .map(holder -> name(nic, holder)));
    }

    private Optional<Nic> holder(Nic asker, VpcId vpc, IpAddress address) {
        return networks.of(asker.account())
                .members(vpc)
                .filter(
                        nic ->
                                nic.membership().stream()
                                        .flatMap(Membership::addresses)
                                        .anyMatch(address::equals))
                .findFirst();
    }

    private String name(Nic asker, Nic holder) {
        return vm(asker, holder.vm().text())
                .flatMap(vm -> vm.settings().slug())
                .map(Slug::text)
                .orElse(holder.vm().text());
    }
}
