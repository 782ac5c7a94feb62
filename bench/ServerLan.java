import java.io.IOException;

/// Two VMs of the server in a private network, whose rules permit what is measured.
record ServerLan(Api api, String vpc, ServerGuest first, ServerGuest second)
        implements AutoCloseable {
    static final String RANGE = "10.20.1.0/24";

    private static final String NETWORK =
            """
            {"cidr":"%s","firewall":{"rules":[
             {"action":"allow","source":{},"destination":{"port":%d,"protocol":"tcp"}},
             {"action":"allow","source":{},"destination":{"public":true}}]}}"""
                    .formatted(RANGE, Flow.PORT);

    static ServerLan make(Api api, String image) throws IOException {
        var vpc = api.post("/v5/vpcs", NETWORK).requiredString("id");
        var lan =
                new ServerLan(
                        api,
                        vpc,
                        ServerGuest.create(api, image, vpc),
                        ServerGuest.create(api, image, vpc));
        lan.first().run(Flow.SERVE);
        lan.second().run(Flow.SERVE);
        return lan;
    }

    @Override
    public void close() throws IOException {
        first.delete();
        second.delete();
        api.delete("/v5/vpcs/" + vpc);
    }
}
