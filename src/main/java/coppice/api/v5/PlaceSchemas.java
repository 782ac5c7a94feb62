package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of a VM's place in a private network, as contract/vms.md gives them.
final class PlaceSchemas {
    private static final Schema ROUTES =
            Schema.list(
                    Schema.object("StaticRoute")
                            .field("cidr", Schema.string(), ALWAYS, "Where to.")
                            .field(
                                    "via",
                                    Schema.string(),
                                    ALWAYS,
                                    "The next hop, an address in the network.")
                            .field(
                                    "metric",
                                    Schema.integer(0, 0xffffffffL),
                                    OPTIONAL,
                                    "Smaller is preferred; default 0."));

    private static final Schema WANTED = Schema.anyOf(Schema.string(), Schema.bool());

    static final Schema VM_NETWORK =
            Schema.object("VmNetwork")
                    .field("vpc", Schema.string(), ALWAYS, "Id of the network.")
                    .field("vpcId", Schema.string(), ALWAYS, "The same id.")
                    .field("ipv4", Schema.string(), OPTIONAL, "Address in the network.")
                    .field("cidr", Schema.string(), OPTIONAL, "IPv4 range of the network.")
                    .field("ipv6", Schema.string(), OPTIONAL, "Address in the network.")
                    .field("cidrV6", Schema.string(), OPTIONAL, "IPv6 range of the network.")
                    .field("routes", ROUTES, ALWAYS, "Static routes in the guest.");

    static final Schema JOIN =
            Schema.object("JoinVpc")
                    .field("vpcId", Schema.string(), OPTIONAL, "Id or slug; needed.")
                    .field("vpc", Schema.string(), OPTIONAL, "Old name of vpcId.")
                    .field(
                            "ipv4",
                            WANTED,
                            OPTIONAL,
                            "A free address of the network, true for the lowest, false for none; default true.")
                    .field("ipv6", WANTED, OPTIONAL, "The same; false for only one of the two.")
                    .field("routes", ROUTES, OPTIONAL, "At most 32 static routes in the guest.");

    private PlaceSchemas() {}
}
