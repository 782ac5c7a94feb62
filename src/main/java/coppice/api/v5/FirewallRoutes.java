package coppice.api.v5;

import static coppice.api.Method.DELETE;
import static coppice.api.Method.GET;
import static coppice.api.Method.POST;

import coppice.api.Call;
import coppice.api.Reply;
import coppice.api.Route;
import coppice.base.Code;
import coppice.identity.AccountId;
import coppice.json.JsonWriter;
import coppice.json.Schema;
import coppice.network.Firewall;
import coppice.network.Networks;
import coppice.network.Verdict;
import coppice.vm.Vms;
import java.util.List;
import java.util.Locale;

/// The operations on firewall rules.
public final class FirewallRoutes {
    private static final String RULES = "/firewall/rules";
    private static final String RULE = RULES + "/{ruleId}";

    private final Networks networks;
    private final Vms vms;

    public FirewallRoutes(Networks networks, Vms vms) {
        this.networks = networks;
        this.vms = vms;
    }

    public List<Route> routes() {
        return List.of(
                Route.v5(POST, RULES, "createFirewallRule", this::create)
                        .creates()
                        .about("Firewall", "Permit connections from a source to a destination")
                        .takes(FirewallSchemas.NEW_RULE, Examples.CREATE_RULE)
                        .returns(FirewallSchemas.RULE)
                        .fails(Code.NOT_FOUND, "a named VM, network or tunnel is absent")
                        .fails(Code.CONFLICT, "the account's limit of rules"),
                listRoute(),
                Route.v5(GET, RULE, "getFirewallRule", this::get)
                        .about("Firewall", "Get a rule")
                        .returns(FirewallSchemas.RULE),
                Route.v5(DELETE, RULE, "deleteFirewallRule", this::delete)
                        .about("Firewall", "Delete a rule; what only it permitted is refused"),
                Route.v5(POST, "/firewall/evaluate", "evaluateFirewall", this::evaluate)
                        .about("Firewall", "Tell what would become of a connection, and why")
                        .takes(FirewallSchemas.EVALUATE, Examples.EVALUATE)
                        .returns(FirewallSchemas.VERDICT));
    }

    private Route listRoute() {
        return Route.v5(GET, RULES, "listFirewallRules", this::list)
                .about("Firewall", "List rules, newest first; all filters must match")
                .query(
                        "vmId",
                        Schema.string(),
                        "Only those that name this VM (id or slug), or a network that it is in now.")
                .query(
                        "vpcId",
                        Schema.string(),
                        "Only those that name this private network: id or slug.")
                .query("tunnelId", Schema.string(), "Only those that name this tunnel: id or slug.")
                .paged()
                .returns(FirewallSchemas.RULE_LIST)
                .fails(Code.NOT_FOUND, "a filter names what is absent");
    }

    private Reply create(Call call) {
        var account = VmRoutes.account(call);
        var wanted = RuleFields.rule(call.body()).named(names(account));
        return Reply.ok(json(account).write(networks.createRule(account, wanted)));
    }

    private Reply list(Call call) {
        var account = VmRoutes.account(call);
        var names = names(account);
        var wanted = RuleFilter.of(call.query()).named(names);
        var matching = names.networks().rules().reversed().stream().filter(wanted).toList();
        return Reply.ok(
                new JsonWriter()
                        .put("rules", json(account).writeAll(call.page().of(matching)))
                        .put("totalCount", matching.size()));
    }

    private Reply get(Call call) {
        var account = VmRoutes.account(call);
        return Reply.ok(json(account).write(networks.rule(account, call.path("ruleId"))));
    }

    private Reply delete(Call call) {
        networks.deleteRule(VmRoutes.account(call), call.path("ruleId"));
        return Reply.noContent();
    }

    private Reply evaluate(Call call) {
        var body = call.body();
        var names = names(VmRoutes.account(call));
        body.refuseFieldsExcept("source", "destination", "protocol");
        var fields = new PartyFields(names, networks::isPublic);
        var protocol = ConnectionFields.protocol(body);
        var source = fields.read(body, "source", protocol);
        var destination = fields.read(body, "destination", protocol);
        return Reply.ok(
                write(Firewall.evaluate(names.networks().rules(), source, destination, protocol)));
    }

    private static JsonWriter write(Verdict verdict) {
        var json = new JsonWriter();
        return switch (verdict) {
            case Verdict.AllowedByPlatform(var side) ->
                    json.put("outcome", "allowedByPlatform")
                            .put("side", side.name().toLowerCase(Locale.ROOT));
            case Verdict.AllowedByRule(var rule) ->
                    json.put("outcome", "allowedByRule").put("ruleId", rule.text());
            case Verdict.DeniedAsMail _ ->
                    json.put("outcome", "deniedByPlatform").put("reason", "outboundMail");
            case Verdict.Denied _ -> json.put("outcome", "denied");
        };
    }

    private Names names(AccountId account) {
        return Names.of(account, vms, networks);
    }

    private RuleJson json(AccountId account) {
        return RuleJson.of(account, vms, networks);
    }
}
