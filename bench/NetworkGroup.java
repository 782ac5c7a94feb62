import coppice.disk.Reflink;
import java.util.LinkedHashSet;
import java.util.List;

/// The group `network`: what passes between guests, and how soon rules count.
final class NetworkGroup {
    private static final int FLOWS = 10;
    private static final int CONNECTS = 300;
    private static final List<String> OF_TRAFFIC =
            List.of("net-guests", "net-host", "net-tunnel", "net-connect");
    private static final List<String> OF_RULES = List.of("evaluate", "rule", "rule-others");

    private final Program program;
    private final Report report;
    private final Wanted wanted;

    NetworkGroup(Program program, Report report, Wanted wanted) {
        this.program = program;
        this.report = report;
        this.wanted = wanted;
    }

    void run() throws Exception {
        program.stop();
        program.set("COPPICE_NETWORK_MAX_VPCS", "" + 2 * RuleBook.VPCS);
        program.set("COPPICE_NETWORK_MAX_RULES", "" + 2 * RuleBook.RULES);
        program.set("COPPICE_TUNNEL_HOST", Outside.HOST_IPV4);
        program.buildImages(imagesNeeded());
        program.start();
        try (var internet = Outside.internet()) {
            if (wanted.hasAny(OF_TRAFFIC)) {
                traffic(internet);
            }
            if (wanted.hasAny(OF_RULES)) {
                new RuleGroup(program, report, wanted).run(internet);
            }
        }
    }

    /// Rules are measured with VMs of the small one.
    private List<String> imagesNeeded() {
        var images = new LinkedHashSet<>(wanted.hasAny(OF_TRAFFIC) ? wanted.images() : List.of());
        if (wanted.hasAny(OF_RULES)) {
            images.add("busybox");
        }
        return List.copyOf(images);
    }

    private void traffic(Outside internet) throws Exception {
        try (var api = program.client();
                var reflink = new Reflink()) {
            for (var image : wanted.images()) {
                var sample = Sample.take(program.volume(), api, reflink, "svc/" + image);
                try (var server = ServerLan.make(api, sample.image())) {
                    var benches = new TrafficBenches(report, sample);
                    guests(benches, sample, server);
                    host(benches, sample, server, internet);
                }
            }
        }
    }

    private void guests(TrafficBenches benches, Sample sample, ServerLan server) throws Exception {
        if (!wanted.hasAny(List.of("net-guests", "net-connect"))) {
            return;
        }
        try (var lan = Lan.make(sample)) {
            var ours = new Flow(server.first(), server.second().address());
            var bare = new Flow(lan.first(), lan.second().address());
            if (wanted.has("net-guests")) {
                benches.throughput("net-guests", ">= 0.9 x floor", flows(), true, ours, bare);
            }
            if (wanted.has("net-connect")) {
                benches.connects("net-connect-guests", connects(), ours, bare);
            }
        }
    }

    private void host(TrafficBenches benches, Sample sample, ServerLan server, Outside internet)
            throws Exception {
        if (!wanted.hasAny(List.of("net-host", "net-connect", "net-tunnel"))) {
            return;
        }
        try (var lone = Lone.make(sample)) {
            var ours = new Flow(server.first(), internet.address());
            var bare = new Flow(lone.guest(), lone.host().address());
            if (wanted.has("net-host")) {
                benches.throughput("net-host-out", ">= 0.9 x floor", flows(), true, ours, bare);
                benches.throughput("net-host-in", ">= 0.9 x floor", flows(), false, ours, bare);
            }
            if (wanted.has("net-connect")) {
                benches.connects("net-connect-host", connects(), ours, bare);
            }
            if (wanted.has("net-tunnel")) {
                tunnel(benches, server, lone, internet);
            }
        }
    }

    /// Clients reach guests, which send as well.
    private void tunnel(TrafficBenches benches, ServerLan server, Lone lone, Outside internet)
            throws Exception {
        try (var _ = ServerTunnel.make(server.api(), server.vpc(), internet.namespace());
                var byHand = HandTunnel.make(lone)) {
            var ours = new Flow(internet.namespace(), server.first().address());
            var bare = new Flow(byHand.away(), lone.guest().address());
            benches.throughput("net-tunnel-in", ">= 0.85 x floor", flows(), true, ours, bare);
            benches.throughput("net-tunnel-out", ">= 0.85 x floor", flows(), false, ours, bare);
        }
    }

    private int flows() {
        return wanted.runs().orElse(FLOWS);
    }

    private int connects() {
        return wanted.runs().orElse(CONNECTS);
    }
}
