package coppice.api.v5;

import static coppice.json.Presence.ALWAYS;
import static coppice.json.Presence.OPTIONAL;

import coppice.json.Schema;

/// The shapes of firewall rules and their operations, as contract/firewall.md gives them.
final class FirewallSchemas {
    private static final Schema PORT = Schema.integer(1, 65_535);
    private static final Schema PROTOCOL = Schema.word("tcp", "udp", "icmp");

    private static final Schema MATCHER =
            Schema.object("FirewallMatcher")
                    .field("vmId", Schema.string(), OPTIONAL, "A VM, whatever its address.")
                    .field("vpcId", Schema.string(), OPTIONAL, "Every member of a private network.")
                    .field("tunnelId", Schema.string(), OPTIONAL, "Whatever is behind a tunnel.")
                    .field(
                            "cidr",
                            Schema.string(),
                            OPTIONAL,
                            "Addresses in a range of IPv4 or IPv6, without host bits.")
                    .field(
                            "public",
                            Schema.bool(),
                            OPTIONAL,
                            "Only true: every publicly routable address. Not with vmId, vpcId or tunnelId.")
                    .field("port", PORT, OPTIONAL, "Needs protocol tcp or udp.")
                    .field("protocol", PROTOCOL, OPTIONAL, "");

    private static final Schema DEPENDENCY =
            Schema.object("FirewallDependency")
                    .field("kind", Schema.word("vm", "vpc", "tunnel"), ALWAYS, "")
                    .field("id", Schema.string(), ALWAYS, "")
                    .field("slug", Schema.string(), OPTIONAL, "At this moment.")
                    .field("displayName", Schema.string(), OPTIONAL, "At this moment.");

    private static final Schema.ObjectOf SENT =
            Schema.object()
                    .field("action", Schema.word("allow"), ALWAYS, "The only one.")
                    .field(
                            "source",
                            MATCHER,
                            ALWAYS,
                            "Where the connection is opened. All stated fields must match.")
                    .field("destination", MATCHER, ALWAYS, "Where it goes.")
                    .field(
                            "description",
                            Schema.string(),
                            OPTIONAL,
                            "For people; at most 1024 characters.");

    /// Names may be slugs.
    static final Schema.ObjectOf NEW_RULE = Schema.object("CreateFirewallRule").with(SENT);

    static final Schema.ObjectOf RULE =
            Schema.object("FirewallRule")
                    .field("id", Schema.string(), ALWAYS, "`fw-` and 20 characters.")
                    .with(SENT)
                    .field(
                            "dependencies",
                            Schema.list(DEPENDENCY),
                            ALWAYS,
                            "What the rule is deleted with.")
                    .field("createdAt", Schema.time(), ALWAYS, "")
                    .field("updatedAt", Schema.time(), ALWAYS, "The same as createdAt.");

    static final Schema RULE_LIST =
            Schema.object("FirewallRuleList")
                    .field("rules", Schema.list(RULE), ALWAYS, "Newest first.")
                    .field(
                            "totalCount",
                            Schema.integer(),
                            ALWAYS,
                            "All that match, not only those of this page.");

    /// The rules inside of a create.
    static final Schema.ObjectOf INLINE =
            Schema.object("InlineFirewall")
                    .field(
                            "rules",
                            Schema.list(NEW_RULE),
                            ALWAYS,
                            "An end that says nothing of who it is means what is being created; [] for no rules.");

    private static final Schema PARTY =
            Schema.object("FirewallParty")
                    .field(
                            "platform",
                            Schema.bool(),
                            OPTIONAL,
                            "Whether it is the service's own proxy.")
                    .field("vmId", Schema.string(), OPTIONAL, "Id or slug.")
                    .field(
                            "vpcIds",
                            Schema.list(Schema.string()),
                            OPTIONAL,
                            "Ids or slugs; default those of the VM.")
                    .field("tunnelId", Schema.string(), OPTIONAL, "Id or slug.")
                    .field("address", Schema.string(), OPTIONAL, "IPv4 or IPv6.")
                    .field(
                            "public",
                            Schema.bool(),
                            OPTIONAL,
                            "Whether it is publicly routable; default whether the address is.")
                    .field("port", PORT, OPTIONAL, "Not with protocol icmp.");

    static final Schema.ObjectOf EVALUATE =
            Schema.object("EvaluateFirewall")
                    .field("source", PARTY, ALWAYS, "All that is known of where it is opened.")
                    .field("destination", PARTY, ALWAYS, "All that is known of where it goes.")
                    .field("protocol", PROTOCOL, OPTIONAL, "");

    static final Schema VERDICT =
            Schema.anyOf(
                    outcome("AllowedByPlatform", "allowedByPlatform")
                            .field(
                                    "side",
                                    Schema.word("source", "destination", "both"),
                                    ALWAYS,
                                    "Which end is the platform."),
                    outcome("AllowedByRule", "allowedByRule")
                            .field("ruleId", Schema.string(), ALWAYS, "The oldest that matches."),
                    outcome("DeniedByPlatform", "deniedByPlatform")
                            .field("reason", Schema.word("outboundMail"), ALWAYS, ""),
                    outcome("Denied", "denied"));

    private FirewallSchemas() {}

    private static Schema.ObjectOf outcome(String name, String word) {
        return Schema.object(name).field("outcome", Schema.word(word), ALWAYS, "");
    }
}
