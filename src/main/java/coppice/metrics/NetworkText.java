package coppice.metrics;

import coppice.base.Deadline;
import coppice.fabric.Fabric;
import coppice.fabric.Passed;
import coppice.fabric.TunnelUse;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.metrics.Exposition.Sample;
import coppice.network.MemberId;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/// What has passed the networks, as metrics.
///
/// @param owner the slug of an account
public record NetworkText(
        Map<MemberId, Passed> vms, List<TunnelUse> tunnels, Function<AccountId, String> owner) {

    /// Reads what there is time for.
    public static String read(Fabric fabric, Accounts accounts, Deadline deadline) {
        return new NetworkText(
                        fabric.traffic(),
                        fabric.tunnels(deadline),
                        id -> accounts.find(id).orElseThrow().slug().text())
                .toString();
    }

    @Override
    public String toString() {
        return new Exposition()
                .counter(
                        "coppice_vm_network_sent_bytes_total",
                        "What the guest has sent since its VM was started.",
                        ofVms(Passed::out))
                .counter(
                        "coppice_vm_network_received_bytes_total",
                        "What the guest has been sent since its VM was started.",
                        ofVms(Passed::in))
                .counter(
                        "coppice_tunnel_sent_bytes_total",
                        "What the tunnel's client has sent since its interface was made.",
                        ofTunnels(Passed::out))
                .counter(
                        "coppice_tunnel_received_bytes_total",
                        "What the tunnel's client has been sent since its interface was made.",
                        ofTunnels(Passed::in))
                .gauge(
                        "coppice_tunnel_last_handshake_seconds",
                        "When the tunnel's client last shook hands, in seconds since 1970.",
                        tunnels.stream()
                                .flatMap(
                                        use ->
                                                use
                                                        .lastHandshake()
                                                        .map(at -> sample(use, at.getEpochSecond()))
                                                        .stream())
                                .toList())
                .toString();
    }

    private List<Sample> ofVms(ToLongFunction<Passed> direction) {
        return vms.entrySet().stream()
                .map(
                        vm ->
                                new Sample(
                                        Map.of("vm", vm.getKey().text()),
                                        direction.applyAsLong(vm.getValue())))
                .toList();
    }

    private List<Sample> ofTunnels(ToLongFunction<Passed> direction) {
        return tunnels.stream()
                .map(use -> sample(use, direction.applyAsLong(use.passed())))
                .toList();
    }

    private Sample sample(TunnelUse use, long value) {
        return new Sample(
                Map.of("tunnel", use.tunnel().text(), "account", owner.apply(use.account())),
                value);
    }
}
