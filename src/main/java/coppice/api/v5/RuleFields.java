package coppice.api.v5;

import coppice.json.JsonObject;
import coppice.network.NewRule;
import java.util.List;

/// Firewall rules in request bodies. The shape of all of them is looked at before what any of them names: whoever has more fields to check
/// first takes the [SentRule]s, checks those, and then has them named.
final class RuleFields {
    private static final String FIREWALL = "firewall";
    private static final String RULES = "rules";

    private RuleFields() {}

    /// Of a body that is a rule.
    static SentRule rule(JsonObject body) {
        var rule = SentRule.read(body);
        requireNotBare(body, "source", rule.source());
        requireNotBare(body, "destination", rule.destination());
        return rule;
    }

    private static void requireNotBare(JsonObject rule, String field, SentEnd end) {
        if (end.isBare()) {
            throw rule.fault(
                    field, "must have at least one of vmId, vpcId, tunnelId, cidr and public");
        }
    }

    /// The rules of a VM that is to be made, in each of which one end means the VM.
    static List<NewRule> ofVm(JsonObject body, Names names) {
        return named(ofVm(body), names);
    }

    /// As [#ofVm(JsonObject, Names)], of a body that may leave them out.
    static List<NewRule> ofVmIfAny(JsonObject body, Names names) {
        return named(ofVmIfAny(body), names);
    }

    /// The rules of a private network that is to be made, in each of which one end or both mean the network. May be left out.
    static List<NewRule> ofVpc(JsonObject body, Names names) {
        return named(ofVpc(body), names);
    }

    static List<NewRule> named(List<SentRule> rules, Names names) {
        return rules.stream().map(rule -> rule.named(names)).toList();
    }

    static List<SentRule> ofVm(JsonObject body) {
        return inline(body.requiredObject(FIREWALL), false);
    }

    static List<SentRule> ofVmIfAny(JsonObject body) {
        return body.has(FIREWALL) ? ofVm(body) : List.of();
    }

    static List<SentRule> ofVpc(JsonObject body) {
        return body.object(FIREWALL).map(firewall -> inline(firewall, true)).orElse(List.of());
    }

    /// @param mayBeBoth whether both ends may mean what is being made
    private static List<SentRule> inline(JsonObject firewall, boolean mayBeBoth) {
        firewall.refuseFieldsExcept(RULES);
        return firewall.requiredObjects(RULES).stream()
                .map(json -> inlineRule(json, mayBeBoth))
                .toList();
    }

    private static SentRule inlineRule(JsonObject json, boolean mayBeBoth) {
        var rule = SentRule.read(json);
        boolean isSource = rule.source().isBare();
        boolean isDestination = rule.destination().isBare();
        if (!isSource && !isDestination) {
            throw json.fault(
                    "source",
                    "source or destination must be without vmId, vpcId, tunnelId, cidr and public: it means what is being made");
        }
        if (isSource && isDestination && !mayBeBoth) {
            throw json.fault(
                    "source",
                    "only one of source and destination can be without vmId, vpcId, tunnelId, cidr and public: it means the new VM");
        }
        return rule;
    }
}
