package coppice.api.v5;

import coppice.base.IpAddress;
import coppice.json.JsonObject;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.Party;
import coppice.network.Protocol;
import coppice.network.Tunnel;
import coppice.network.Vpc;
import coppice.network.VpcId;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// The ends of a connection that somebody asks about. What they name and the account does not have is left out, since no rule names it;
/// what follows from what is said is filled in.
///
/// @param isPublic which addresses are publicly routable
record PartyFields(Names names, Predicate<IpAddress> isPublic) {
    private static final String[] FIELDS = {
        "platform", "vmId", "vpcIds", "tunnelId", "address", "public", "port"
    };

    /// @param protocol of the connection, if it was said
    Party read(JsonObject connection, String end, Optional<Protocol> protocol) {
        var party = connection.requiredObject(end);
        party.refuseFieldsExcept(FIELDS);
        if (Stream.of(FIELDS).noneMatch(party::has)) {
            throw connection.fault(
                    end,
                    "says nothing; send at least one of %s".formatted(String.join(", ", FIELDS)));
        }
        var port = ConnectionFields.port(party);
        if (port.isPresent() && !protocol.map(Protocol::hasPorts).orElse(true)) {
            throw party.fault("port", "must be left out: protocol icmp has none");
        }
        var vm = party.string("vmId").flatMap(names::findVm);
        var address = party.string("address").map(text -> address(party, text));
        return new Party(
                party.bool("platform").orElse(false),
                vm,
                party.strings("vpcIds").map(this::vpcs).orElseGet(() -> vpcsOf(vm)),
                party.string("tunnelId").flatMap(names.networks()::tunnel).map(Tunnel::id),
                address,
                party.bool("public").or(() -> address.map(isPublic::test)),
                port);
    }

    private static IpAddress address(JsonObject party, String text) {
        return IpAddress.parse(text)
                .orElseThrow(() -> party.fault("address", "must be an IPv4 or IPv6 address"));
    }

    private List<VpcId> vpcs(List<String> sent) {
        return sent.stream()
                .flatMap(name -> names.networks().vpc(name).stream())
                .map(Vpc::id)
                .toList();
    }

    private List<VpcId> vpcsOf(Optional<MemberId> vm) {
        return vm
                .flatMap(names.networks()::nic)
                .flatMap(Nic::membership)
                .map(Membership::vpc)
                .stream()
                .toList();
    }
}
