package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of the operations on private networks, as contract/vpcs.md gives them.
final class VpcSchemas {
    private static final Schema.ObjectOf SETTINGS =
            Schema.object()
                    .field(
                            "slug",
                            Schema.string(),
                            OPTIONAL,
                            "The account's own name for it, unique among its networks.")
                    .field("displayName", Schema.string(), OPTIONAL, "1 to 128 characters.");

    static final Schema.ObjectOf VPC =
            Schema.object("Vpc")
                    .field("id", Schema.string(), ALWAYS, "`vpc-` and 20 characters.")
                    .field("cidr", Schema.string(), OPTIONAL, "IPv4 range; never changes.")
                    .field("cidrV6", Schema.string(), ALWAYS, "IPv6 range; never changes.")
                    .with(SETTINGS)
                    .field("createdAt", Schema.time(), ALWAYS, "");

    static final Schema CREATED_VPC =
            Schema.object("CreatedVpc")
                    .with(VPC)
                    .field(
                            "firewallRules",
                            Schema.list(FirewallSchemas.RULE),
                            ALWAYS,
                            "The rules it was created with, as they were sent.");

    static final Schema.ObjectOf CREATE =
            Schema.object("CreateVpc")
                    .field(
                            "cidr",
                            Schema.string(),
                            OPTIONAL,
                            "In 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, prefix 16 to 28; default an unused /24.")
                    .field(
                            "cidrV6",
                            Schema.string(),
                            OPTIONAL,
                            "In fc00::/7 and outside fdff::/48, prefix 64; default random.")
                    .with(SETTINGS)
                    .field(
                            "firewall",
                            FirewallSchemas.INLINE,
                            OPTIONAL,
                            "Rules that name the new network; where both ends do, members reach each other.");

    static final Schema.ObjectOf UPDATE = Schema.object("UpdateVpc").with(SETTINGS);

    static final Schema VPC_LIST =
            Schema.object("VpcList")
                    .field("vpcs", Schema.list(VPC), ALWAYS, "Newest first.")
                    .field(
                            "totalCount",
                            Schema.integer(),
                            ALWAYS,
                            "All, not only those of this page.");

    private VpcSchemas() {}
}
