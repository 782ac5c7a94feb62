import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// An account with many private networks and rules.
///
/// @param vpcs ids, in the order of their ranges
record RuleBook(Api api, List<String> vpcs) {
    static final int VPCS = 200;
    static final int RULES = 5000;
    static final int LEAST_PORT = 1000;

    static final int RULES_OF_A_VPC = RULES / VPCS;
    private static final int VPCS_OF_A_BLOCK = 250;
    private static final int PAGE = 1000;

    /// Fills the account. Each network has rules of all kinds: its members with each other, from a range, to the Internet, to the network
    /// made before it, and from the Internet.
    static RuleBook fill(Api api) throws IOException {
        var vpcs = new ArrayList<String>();
        for (int i = 0; i < VPCS; i++) {
            var rules = new ArrayList<JsonWriter>();
            for (int j = 0; j < RULES_OF_A_VPC; j++) {
                rules.add(rule(vpcs, j));
            }
            var wanted =
                    new JsonWriter()
                            .put("cidr", range(i) + "0/24")
                            .put("firewall", Map.of("rules", rules));
            vpcs.add(api.post("/v5/vpcs", text(wanted)).requiredString("id"));
        }
        return new RuleBook(api, vpcs);
    }

    /// The first three bytes of the addresses of a network.
    static String range(int vpc) {
        return "10.%d.%d.".formatted(20 + vpc / VPCS_OF_A_BLOCK, vpc % VPCS_OF_A_BLOCK);
    }

    private static JsonWriter rule(List<String> before, int number) {
        var port = LEAST_PORT + number;
        var inThisOne = traffic(port);
        var nothing = new JsonWriter();
        return switch (number % 5) {
            case 0 -> allow(nothing, inThisOne);
            case 1 -> allow(new JsonWriter().put("cidr", range(number) + "0/24"), inThisOne);
            case 2 -> allow(nothing, traffic(port).put("public", true));
            case 3 ->
                    allow(
                            nothing,
                            before.isEmpty()
                                    ? inThisOne
                                    : traffic(port).put("vpcId", before.getLast()));
            default -> allow(new JsonWriter().put("public", true), inThisOne);
        };
    }

    private static JsonWriter traffic(int port) {
        return new JsonWriter().put("port", port).put("protocol", port % 2 == 0 ? "tcp" : "udp");
    }

    private static JsonWriter allow(JsonWriter source, JsonWriter destination) {
        return new JsonWriter()
                .put("action", "allow")
                .put("source", source)
                .put("destination", destination);
    }

    static String text(JsonWriter json) {
        return new String(Json.write(json), java.nio.charset.StandardCharsets.UTF_8);
    }

    /// All that the account has, newest first.
    List<JsonObject> rules() throws IOException {
        var rules = new ArrayList<JsonObject>();
        for (int page = 0; page * PAGE < RULES; page++) {
            rules.addAll(
                    api.get("/v5/firewall/rules?limit=%d&offset=%d".formatted(PAGE, page * PAGE))
                            .requiredObjects("rules"));
        }
        return rules;
    }
}
