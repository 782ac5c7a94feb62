package coppice.main;

/// Calls every operation on private networks, firewall rules and tunnels.
record EveryOperationNetworks(EveryOperationCaller caller) {
    private static final String KEY = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";

    /// Makes a network.
    void begin(String slug) {
        caller.done(
                "POST /vpcs",
                """
                {"slug":"%s","displayName":"Home","cidr":"10.77.0.0/24","cidrV6":"fd77:1::/64",
                 "firewall":{"rules":[{"action":"allow","source":{},"destination":{}}]}}
                """
                        .formatted(slug));
    }

    /// @param slug of the network that was made
    void walk(String slug) {
        var vpc = "/vpcs/" + slug;
        caller.refused(409, "CONFLICT", "POST /vpcs", "{\"slug\":\"%s\"}".formatted(slug));
        caller.refused(400, "BAD_REQUEST", "POST /vpcs", "{\"cidr\":\"8.8.8.0/24\"}");
        caller.done("GET /vpcs?limit=10&offset=0");
        var id = caller.done("GET " + vpc).text("id");
        caller.done("PATCH " + vpc, "{\"displayName\":\"\"}");
        caller.refused(400, "BAD_REQUEST", "PATCH " + vpc, "{\"slug\":\"No Slug\"}");
        tunnels(vpc, id);
        rules(slug);
        caller.done("DELETE " + vpc);
        caller.refused(404, "NOT_FOUND", "DELETE " + vpc);
    }

    private void rules(String slug) {
        var rule =
                caller.done(
                                "POST /firewall/rules",
                                """
                                {"action":"allow","source":{"cidr":"192.0.2.0/24"},"description":"Office",
                                 "destination":{"vpcId":"%s","port":443,"protocol":"tcp"}}
                                """
                                        .formatted(slug))
                        .text("id");
        caller.refused(400, "BAD_REQUEST", "POST /firewall/rules", "{}");
        caller.refused(
                404,
                "NOT_FOUND",
                "POST /firewall/rules",
                "{\"action\":\"allow\",\"source\":{\"vmId\":\"none\"},\"destination\":{\"public\":true}}");
        caller.done("GET /firewall/rules?vpcId=%s&limit=10&offset=0".formatted(slug));
        caller.refused(404, "NOT_FOUND", "GET /firewall/rules?vmId=none");
        caller.done("GET /firewall/rules/" + rule);
        evaluate("{\"platform\":true}", "{\"vpcIds\":[\"%s\"]}".formatted(slug), "");
        evaluate(
                "{\"address\":\"192.0.2.7\"}",
                "{\"vpcIds\":[\"%s\"],\"port\":443}".formatted(slug),
                "tcp");
        evaluate(
                "{\"address\":\"198.51.100.7\"}",
                "{\"vpcIds\":[\"%s\"],\"port\":80}".formatted(slug),
                "tcp");
        evaluate(
                "{\"vpcIds\":[\"%s\"]}".formatted(slug),
                "{\"address\":\"1.1.1.1\",\"port\":25}",
                "tcp");
        caller.refused(400, "BAD_REQUEST", "POST /firewall/evaluate", "{\"source\":{}}");
        caller.done("DELETE /firewall/rules/" + rule);
        caller.refused(404, "NOT_FOUND", "GET /firewall/rules/" + rule);
    }

    private void evaluate(String source, String destination, String protocol) {
        var more = protocol.isEmpty() ? "" : ",\"protocol\":\"%s\"".formatted(protocol);
        caller.done(
                "POST /firewall/evaluate",
                "{\"source\":%s,\"destination\":%s%s}".formatted(source, destination, more));
    }

    private void tunnels(String vpc, String id) {
        var office =
                "{\"slug\":\"office\",\"displayName\":\"Office\",\"routes\":[\"10.0.0.0/8\",\"fd00::/8\"],\"vpcs\":[{\"vpcId\":\"%s\"}]}"
                        .formatted(id);
        var tunnel = "/tunnels/" + caller.done("POST /tunnels", office).text("id");
        caller.refused(409, "CONFLICT", "POST /tunnels", office);
        caller.refused(400, "BAD_REQUEST", "POST /tunnels", "{\"routes\":[]}");
        caller.done("GET /tunnels?limit=10&offset=0");
        caller.done("GET " + vpc + "/tunnels?limit=10&offset=0");
        caller.done("GET " + tunnel);
        caller.done("PATCH " + tunnel, "{\"displayName\":\"Second\"}");
        caller.done("POST " + tunnel + "/rotate-key");
        caller.done(
                "POST " + tunnel + "/rotate-key", "{\"clientPublicKey\":\"%s\"}".formatted(KEY));
        caller.refused(
                400,
                "BAD_REQUEST",
                "POST " + tunnel + "/rotate-key",
                "{\"clientPublicKey\":\"x\"}");
        caller.refused(409, "CONFLICT", "POST " + tunnel + vpc, "{}");
        caller.done("DELETE " + tunnel + vpc);
        caller.refused(404, "NOT_FOUND", "DELETE " + tunnel + vpc);
        caller.done(
                "POST " + tunnel + vpc,
                "{\"ipv4\":\"10.77.0.200\",\"remoteCidrs\":[\"10.77.0.208/28\"],\"exit\":true}");
        caller.done("GET " + tunnel);
        caller.done("DELETE " + tunnel);
    }
}
