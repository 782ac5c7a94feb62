package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the tunnel operations, as contract/tunnels.md gives them.
final class TunnelSchemas {
    private static final Schema RANGES = Schema.list(Schema.string());

    private static final Schema.ObjectOf NAMES =
            Schema.object()
                    .field(
                            "slug",
                            Schema.string(),
                            OPTIONAL,
                            "The account's own name for it, unique among its tunnels.")
                    .field("displayName", Schema.string(), OPTIONAL, "1 to 128 characters.");

    private static final Schema ATTACHMENT =
            Schema.object("TunnelAttachment")
                    .field("vpcId", Schema.string(), ALWAYS, "")
                    .field(
                            "ipv4",
                            Schema.string(),
                            OPTIONAL,
                            "The tunnel's address inside the network, fixed while attached.")
                    .field("ipv6", Schema.string(), OPTIONAL, "As ipv4.")
                    .field(
                            "address",
                            Schema.string(),
                            ALWAYS,
                            "Old name: ipv4 if there is one, else ipv6.")
                    .field(
                            "secondaryAddress",
                            Schema.string(),
                            OPTIONAL,
                            "Old name: the address of the other family.")
                    .field("vpcCidr", Schema.string(), ALWAYS, "The network's range.")
                    .field("allowedIps", RANGES, ALWAYS, "What is routed to this network.")
                    .field(
                            "remoteCidrs",
                            RANGES,
                            OPTIONAL,
                            "Ranges behind the client that the network routes to it.")
                    .field(
                            "exit",
                            Schema.bool(),
                            OPTIONAL,
                            "Only true: the client forwards for any destination.")
                    .field("createdAt", Schema.time(), ALWAYS, "");

    static final Schema.ObjectOf TUNNEL =
            Schema.object("Tunnel")
                    .field("id", Schema.string(), ALWAYS, "`tun-` and 20 characters.")
                    .field("tunnelId", Schema.string(), ALWAYS, "The same.")
                    .with(NAMES)
                    .field(
                            "clientConfig",
                            Schema.string(),
                            ALWAYS,
                            "The client's whole WireGuard file; PrivateKey is blank unless this answer minted it.")
                    .field("endpointHost", Schema.string(), OPTIONAL, "What to dial.")
                    .field("endpointPort", Schema.integer(1, 65_535), ALWAYS, "The UDP port.")
                    .field("clientPublicKey", Schema.base64(), ALWAYS, "32 bytes.")
                    .field("serverPublicKey", Schema.base64(), ALWAYS, "32 bytes.")
                    .field(
                            "clientAddressV4",
                            Schema.string(),
                            ALWAYS,
                            "The client's fixed address inside the tunnel.")
                    .field("clientAddressV6", Schema.string(), ALWAYS, "As clientAddressV4.")
                    .field("routes", RANGES, ALWAYS, "What the client sends into the tunnel.")
                    .field("attachments", Schema.list(ATTACHMENT), ALWAYS, "Oldest first.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field("updatedAt", Schema.time(), ALWAYS, "");

    static final Schema ISSUED =
            Schema.object("IssuedTunnel")
                    .with(TUNNEL)
                    .field(
                            "clientPrivateKey",
                            Schema.string(),
                            ALWAYS,
                            "The minted key, which is kept nowhere; empty when the caller gave a public key.");

    static final Schema TUNNEL_LIST =
            Schema.object("TunnelList")
                    .field("tunnels", Schema.list(TUNNEL), ALWAYS, "Newest first.")
                    .field(
                            "totalCount",
                            Schema.integer(),
                            ALWAYS,
                            "All that match, not only those of this page.");

    private static final Schema.ObjectOf PLACE =
            Schema.object()
                    .field(
                            "ipv4",
                            Schema.string(),
                            OPTIONAL,
                            "The wanted address, of IPv4 or IPv6. Without one, one of each family is assigned.")
                    .field(
                            "ipv6",
                            Schema.string(),
                            OPTIONAL,
                            "The wanted IPv6 address; not together with ipv4.")
                    .field(
                            "remoteCidrs",
                            RANGES,
                            OPTIONAL,
                            "At most 16 ranges behind the client that the network routes to it.")
                    .field(
                            "exit",
                            Schema.bool(),
                            OPTIONAL,
                            "Whether the client forwards for any destination; default false.");

    private static final Schema.ObjectOf KEY =
            Schema.object()
                    .field(
                            "clientPublicKey",
                            Schema.base64(),
                            OPTIONAL,
                            "32 bytes that no other tunnel has; default: a pair is minted.");

    static final Schema.ObjectOf CREATE =
            Schema.object("CreateTunnel")
                    .with(NAMES)
                    .with(KEY)
                    .field(
                            "routes",
                            RANGES,
                            OPTIONAL,
                            "1 to 64 ranges, none of them everything; default 10.0.0.0/8 and fd00::/8.")
                    .field(
                            "vpcs",
                            Schema.list(
                                    Schema.object()
                                            .field(
                                                    "vpcId",
                                                    Schema.string(),
                                                    OPTIONAL,
                                                    "Id or slug.")
                                            .field(
                                                    "vpc",
                                                    Schema.string(),
                                                    OPTIONAL,
                                                    "Old name of vpcId.")
                                            .with(PLACE)),
                            OPTIONAL,
                            "The networks to attach it to: all or none.");

    static final Schema.ObjectOf UPDATE = Schema.object("UpdateTunnel").with(NAMES);

    static final Schema.ObjectOf ROTATE = Schema.object("RotateTunnelKey").with(KEY);

    static final Schema.ObjectOf ATTACH = Schema.object("AttachTunnel").with(PLACE);

    private TunnelSchemas() {}
}
