package coppice.api.v5;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.vm.Vms;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;

/// Firewall rules inside a create: checked field by field as contract/firewall.md says, and turned into rules with ids.
///
/// In each rule exactly one end names nothing and stands for the new VM.
final class FirewallFields {
    private static final int MAX_DESCRIPTION = 1024;
    private static final List<String> IDENTITY =
            List.of("vmId", "vpcId", "tunnelId", "cidr", "public");

    private FirewallFields() {}

    /// The rules of the body's `firewall`, with the new VM in their empty ends.
    static List<JsonObject> rules(JsonObject body) {
        var firewall = body.requiredObject("firewall");
        firewall.refuseFieldsExcept("rules");
        var rules = firewall.objects("rules").orElseThrow(() -> firewall.missing("rules"));
        rules.forEach(FirewallFields::requireRule);
        return rules;
    }

    /// As [#rules], of a body that may leave them out.
    static List<JsonObject> optionalRules(JsonObject body) {
        return body.has("firewall") ? rules(body) : List.of();
    }

    static List<coppice.network.NewRule> named(List<JsonObject> rules, AccountId account, Vms vms) {
        return rules.stream()
                .map(
                        rule ->
                                new coppice.network.NewRule(
                                        end(rule.requiredObject("source"), account, vms),
                                        end(rule.requiredObject("destination"), account, vms),
                                        rule.string("description")))
                .toList();
    }

    private static coppice.network.Matcher end(JsonObject end, AccountId account, Vms vms) {
        if (end.has("vpcId") || end.has("tunnelId")) {
            throw new Failure(Code.NOT_FOUND, "no such network or tunnel");
        }
        return new coppice.network.Matcher(
                end.string("vmId")
                        .map(vm -> new coppice.network.MemberId(vms.get(account, vm).id().text())),
                Optional.empty(),
                Optional.empty(),
                end.string("cidr").map(coppice.base.Cidr::stored),
                end.bool("public").orElse(false),
                end.integer("port").map(Math::toIntExact),
                end.string("protocol").flatMap(coppice.network.Protocol::of));
    }

    private static void requireRule(JsonObject rule) {
        rule.refuseFieldsExcept("action", "source", "destination", "description");
        if (!rule.requiredString("action").equals("allow")) {
            throw rule.fault("action", "must be 'allow'");
        }
        rule.string("description")
                .filter(text -> text.length() > MAX_DESCRIPTION)
                .ifPresent(
                        _ -> {
                            throw rule.fault(
                                    "description",
                                    "must be at most %d characters".formatted(MAX_DESCRIPTION));
                        });
        var source = rule.requiredObject("source");
        var destination = rule.requiredObject("destination");
        requireMatcher(source);
        requireMatcher(destination);
        if (isSelf(source) == isSelf(destination)) {
            throw rule.fault(
                    "source",
                    "exactly one of source and destination must name nothing: it stands for the new VM");
        }
    }

    private static boolean isSelf(JsonObject end) {
        return IDENTITY.stream().noneMatch(end::has);
    }

    private static void requireMatcher(JsonObject end) {
        end.refuseFieldsExcept("vmId", "vpcId", "tunnelId", "cidr", "public", "port", "protocol");
        for (var field : List.of("vmId", "vpcId", "tunnelId", "cidr")) {
            end.string(field)
                    .filter(String::isEmpty)
                    .ifPresent(
                            _ -> {
                                throw end.fault(field, "must not be empty");
                            });
        }
        end.bool("public").ifPresent(value -> requirePublic(end, value));
        end.string("cidr").ifPresent(text -> requireCidr(end, text));
        requirePort(end);
    }

    private static void requirePublic(JsonObject end, boolean value) {
        if (!value) {
            throw end.fault("public", "must be true, or left out");
        }
        if (end.has("vmId") || end.has("vpcId") || end.has("tunnelId")) {
            throw end.fault(
                    "public", "cannot be together with vmId, vpcId or tunnelId; write two rules");
        }
    }

    private static void requirePort(JsonObject end) {
        var port = end.integer("port");
        var protocol = end.string("protocol");
        port.filter(p -> p < 1 || p > 65535)
                .ifPresent(
                        _ -> {
                            throw end.fault("port", "must be 1 to 65535");
                        });
        protocol.filter(p -> !List.of("tcp", "udp", "icmp").contains(p))
                .ifPresent(
                        _ -> {
                            throw end.fault("protocol", "must be tcp, udp or icmp");
                        });
        if (port.isPresent() && (protocol.isEmpty() || protocol.equals(Optional.of("icmp")))) {
            throw end.fault("port", "needs protocol tcp or udp");
        }
    }

    private static void requireCidr(JsonObject end, String text) {
        var parts = text.split("/", -1);
        if (parts.length != 2
                || !parts[1].matches("[0-9]{1,3}")
                || !parts[0].matches("[0-9a-fA-F:.]+")) {
            throw end.fault(
                    "cidr", "must be address/prefix, such as 203.0.113.0/24 or 2001:db8::/32");
        }
        var address = address(end, parts[0]);
        int bits = address.length * 8;
        int prefix = Integer.parseInt(parts[1]);
        if (prefix > bits) {
            throw end.fault("cidr", "has a prefix of more than %d".formatted(bits));
        }
        var number = new BigInteger(1, address);
        var network = number.shiftRight(bits - prefix).shiftLeft(bits - prefix);
        if (!network.equals(number)) {
            throw end.fault(
                    "cidr",
                    "has host bits set; the network is %s/%d"
                            .formatted(text(network, address.length), prefix));
        }
    }

    private static byte[] address(JsonObject end, String text) {
        try {
            if (text.contains(":") || text.matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}")) {
                return InetAddress.getByName(text).getAddress(); // a literal: nothing is looked up
            }
        } catch (UnknownHostException e) {
            // no address
        }
        throw end.fault("cidr", "does not start with an IPv4 or IPv6 address");
    }

    private static String text(BigInteger network, int length) {
        var bytes = new byte[length];
        var number = network.toByteArray();
        for (int i = 1; i <= Math.min(length, number.length); i++) {
            bytes[length - i] = number[number.length - i];
        }
        try {
            return InetAddress.getByAddress(bytes).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}
