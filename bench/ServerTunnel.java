import coppice.json.JsonObject;
import java.io.IOException;
import java.util.List;

/// Somebody on the Internet with a tunnel into a network of the server, whose members it may reach.
record ServerTunnel(Api api, String tunnel, WireGuard client) implements AutoCloseable {
    private static final String NEW = "{\"vpcs\":[{\"vpcId\":\"%s\"}]}";
    private static final String RULE =
            "{\"action\":\"allow\",\"source\":{\"tunnelId\":\"%s\"},\"destination\":{\"vpcId\":\"%s\"}}";

    static ServerTunnel make(Api api, String vpc, Namespace internet) throws IOException {
        var tunnel = api.post("/v5/tunnels", NEW.formatted(vpc));
        var id = tunnel.requiredString("id");
        api.post("/v5/firewall/rules", RULE.formatted(id, vpc));
        var client = WireGuard.start(internet, "bench0", setting(tunnel));
        return new ServerTunnel(api, id, client);
    }

    private static WireGuard.Setting setting(JsonObject tunnel) {
        return new WireGuard.Setting(
                tunnel.requiredString("clientPrivateKey"),
                tunnel.requiredString("serverPublicKey"),
                tunnel.requiredString("clientAddressV4"),
                List.of(ServerLan.RANGE),
                "",
                "Endpoint = %s:%d"
                        .formatted(
                                tunnel.requiredString("endpointHost"),
                                tunnel.requiredInteger("endpointPort")));
    }

    @Override
    public void close() throws IOException {
        client.stop();
        api.delete("/v5/tunnels/" + tunnel);
    }
}
