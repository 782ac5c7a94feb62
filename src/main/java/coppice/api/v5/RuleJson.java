package coppice.api.v5;

import coppice.base.Cidr;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.json.JsonWriter;
import coppice.network.AccountNetworks;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Named;
import coppice.network.Networks;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.TunnelId;
import coppice.network.VpcId;
import coppice.vm.Vm;
import coppice.vm.Vms;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Firewall rules of one account as they are answered, with what things are called at this moment.
final class RuleJson {
    private final AccountNetworks networks;
    private final Function<MemberId, Optional<Vm>> vms;

    /// @param vms empty for a VM that is gone
    RuleJson(AccountNetworks networks, Function<MemberId, Optional<Vm>> vms) {
        this.networks = networks;
        this.vms = vms;
    }

    static RuleJson of(AccountId account, Vms vms, Networks networks) {
        return new RuleJson(networks.of(account), id -> vm(vms, account, id));
    }

    /// A VM can go after the rule was read that goes with it.
    private static Optional<Vm> vm(Vms vms, AccountId account, MemberId id) {
        try {
            return Optional.of(vms.get(account, id.text()));
        } catch (Failure e) {
            if (e.code() == Code.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    List<JsonWriter> writeAll(List<Rule> rules) {
        return rules.stream().map(this::write).toList();
    }

    JsonWriter write(Rule rule) {
        return new JsonWriter()
                .put("id", rule.id().text())
                .put("action", "allow")
                .put("source", end(rule.source()))
                .put("destination", end(rule.destination()))
                .put("description", rule.description())
                .put("dependencies", rule.dependencies().stream().map(this::dependency).toList())
                .put("createdAt", rule.createdAt())
                .put("updatedAt", rule.createdAt());
    }

    private static JsonWriter end(Matcher end) {
        return new JsonWriter()
                .put("vmId", end.vm().map(MemberId::text))
                .put("vpcId", end.vpc().map(VpcId::text))
                .put("tunnelId", end.tunnel().map(TunnelId::text))
                .put("cidr", end.cidr().map(Cidr::toString))
                .put("public", end.isPublic() ? Optional.of(true) : Optional.empty())
                .put("port", end.port())
                .put("protocol", end.protocol().map(Protocol::word));
    }

    private JsonWriter dependency(Named thing) {
        return switch (thing) {
            case Named.Member(var id) -> {
                var settings = vms.apply(id).map(Vm::settings);
                yield dependency(
                        "vm",
                        id.text(),
                        settings.flatMap(Vm.Settings::slug),
                        settings.flatMap(Vm.Settings::displayName));
            }
            case Named.Network(var id) -> {
                var vpc = Optional.ofNullable(networks.vpcs().get(id));
                yield dependency(
                        "vpc",
                        id.text(),
                        vpc.flatMap(found -> found.slug()),
                        vpc.flatMap(found -> found.displayName()));
            }
            case Named.Passage(var id) -> {
                var tunnel = Optional.ofNullable(networks.tunnels().get(id));
                yield dependency(
                        "tunnel",
                        id.text(),
                        tunnel.flatMap(found -> found.slug()),
                        tunnel.flatMap(found -> found.displayName()));
            }
        };
    }

    private static JsonWriter dependency(
            String kind, String id, Optional<Slug> slug, Optional<String> displayName) {
        return new JsonWriter()
                .put("kind", kind)
                .put("id", id)
                .put("slug", slug.map(Slug::text))
                .put("displayName", displayName);
    }
}
