package coppice.api.v5;

import coppice.api.ApiCaller;
import coppice.json.JsonObject;
import coppice.network.GivenNetworks;
import coppice.network.MemberId;
import coppice.network.NetworkLimits;
import coppice.network.Vpc;
import coppice.vm.GivenVms;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/// The routes of networks and firewall rules. Ada has a VM, which is stopped and in no network until it is put into one.
final class NetworkServer implements AutoCloseable {
    private final GivenVms vms;
    private final GivenNetworks given;

    NetworkServer(Path directory) {
        this(directory, NetworkLimits.USUAL);
    }

    NetworkServer(Path directory, NetworkLimits limits) {
        this.vms = new GivenVms(directory);
        this.given = new GivenNetworks(directory, limits);
    }

    GivenVms vms() {
        return vms;
    }

    GivenNetworks given() {
        return given;
    }

    ApiCaller ada() {
        return as(vms.ada().uuid());
    }

    ApiCaller bob() {
        return as(vms.bob().uuid());
    }

    private ApiCaller as(UUID account) {
        var routes =
                Stream.of(
                                new VpcRoutes(given.networks(), vms.vms()).routes(),
                                new FirewallRoutes(given.networks(), vms.vms()).routes())
                        .flatMap(List::stream)
                        .toList();
        return new ApiCaller(routes, account);
    }

    MemberId stopped() {
        return new MemberId(vms.stopped().id().text());
    }

    /// Makes Ada's VM a member of nothing, or of one network.
    MemberId join(Optional<Vpc> vpc) {
        return given.join(vms.ada(), stopped(), vpc.map(GivenNetworks::place)).nic().vm();
    }

    Vpc vpc(String slug) {
        return given.vpc(vms.ada(), slug);
    }

    /// A rule with these ends.
    static String rule(String source, String destination) {
        return "{\"action\":\"allow\",\"source\":%s,\"destination\":%s}"
                .formatted(source, destination);
    }

    static List<String> ids(JsonObject list, String key) {
        return list.requiredObjects(key).stream().map(one -> one.requiredString("id")).toList();
    }

    static void requireMessage(JsonObject refused, String start) {
        var message = refused.requiredString("message");
        if (!message.startsWith(start)) {
            throw new AssertionError("does not begin with %s: %s".formatted(start, message));
        }
    }

    @Override
    public void close() {
        given.close();
        vms.close();
    }
}
