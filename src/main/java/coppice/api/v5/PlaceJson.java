package coppice.api.v5;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import coppice.json.JsonWriter;
import coppice.network.AccountNetworks;
import coppice.network.MemberId;
import coppice.network.Membership;
import coppice.network.Nic;
import coppice.network.StaticRoute;
import coppice.network.Vpc;
import java.util.List;
import java.util.Optional;

/// The places of VMs in private networks as they are answered.
final class PlaceJson {

    private PlaceJson() {}

    /// All networks that a VM is in: none or one.
    static List<JsonWriter> write(MemberId vm, AccountNetworks networks) {
        return networks.nic(vm).flatMap(Nic::membership).stream()
                .map(place -> write(place, networks.vpcs().get(place.vpc())))
                .toList();
    }

    private static JsonWriter write(Membership place, Vpc vpc) {
        return new JsonWriter()
                .put("vpc", vpc.id().text())
                .put("vpcId", vpc.id().text())
                .put("ipv4", place.ipv4().map(IpAddress::toString))
                .put("cidr", place.ipv4().map(_ -> vpc.cidr()).map(Cidr::toString))
                .put("ipv6", place.ipv6().map(IpAddress::toString))
                .put("cidrV6", place.ipv6().map(_ -> vpc.cidrV6()).map(Cidr::toString))
                .put("routes", place.routes().stream().map(PlaceJson::route).toList());
    }

    private static JsonWriter route(StaticRoute route) {
        return new JsonWriter()
                .put("cidr", route.cidr().toString())
                .put("via", route.via().toString())
                .put("metric", Optional.of(route.metric()).filter(metric -> metric != 0));
    }
}
