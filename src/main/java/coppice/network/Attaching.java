package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import java.time.Instant;
import java.util.Optional;

/// Finds a tunnel its place in a network, as everything is at this moment. `CONFLICT` if it cannot be.
record Attaching(AccountNetworks networks, Tunnel tunnel, Vpc network) {

    Attachment place(NewAttachment wanted, Instant now) {
        requireApart(wanted.place() + "vpcId");
        requireFree(wanted);
        var bare =
                new Attachment(
                        network.id(),
                        network.cidr(),
                        network.cidrV6(),
                        Optional.empty(),
                        Optional.empty(),
                        wanted.remote().stream().distinct().toList(),
                        wanted.isExit(),
                        now);
        // Its own address is none of those that it takes out of allocation.
        var addresses = new Addresses(networks.with(tunnel.with(bare)), network);
        return bare.at(
                addresses.pick(wanted.place() + "ipv4", false, wanted.ipv4()),
                addresses.pick(wanted.place() + "ipv6", true, wanted.ipv6()));
    }

    private void requireApart(String field) {
        for (var other : tunnel.attachments()) {
            if (other.vpc().equals(network.id())) {
                throw conflict(
                        field,
                        "the tunnel is attached to %s already; detach it first"
                                .formatted(network.id()));
            }
            if (other.ranges().anyMatch(range -> range.overlaps(network.range(range.isV6())))) {
                throw conflict(
                        field,
                        "%s overlaps %s, which the tunnel is attached to; use another tunnel"
                                .formatted(network.id(), other.vpc()));
            }
        }
    }

    private void requireFree(NewAttachment wanted) {
        var addresses = new Addresses(networks, network);
        for (int i = 0; i < wanted.remote().size(); i++) {
            var range = wanted.remote().get(i);
            if (!addresses.isFree(range)) {
                throw conflict(
                        "%sremoteCidrs[%d]".formatted(wanted.place(), i),
                        "%s is not free: an address in it is held, or another tunnel has it or a part of it"
                                .formatted(range));
            }
        }
    }

    private static Failure conflict(String field, String problem) {
        return new Failure(Code.CONFLICT, "%s: %s".formatted(field, problem));
    }
}
