package coppice.main;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.api.legacy.LegacyFileRoutes;
import coppice.api.legacy.LegacyIdentityRoutes;
import coppice.api.legacy.LegacySnapshotRoutes;
import coppice.api.legacy.LegacyTerminalRoutes;
import coppice.api.legacy.LegacyVmRoutes;
import coppice.api.v5.FileRoutes;
import coppice.api.v5.FirewallRoutes;
import coppice.api.v5.IdentityRoutes;
import coppice.api.v5.SnapshotRoutes;
import coppice.api.v5.TerminalRoutes;
import coppice.api.v5.TunnelRoutes;
import coppice.api.v5.UploadRoutes;
import coppice.api.v5.VmRoutes;
import coppice.api.v5.VpcRoutes;
import coppice.base.Slug;
import coppice.base.Undo;
import coppice.disk.DataVolume;
import coppice.disk.Reflink;
import coppice.dns.Resolver;
import coppice.fabric.Fabric;
import coppice.fabric.WireGuardEnd;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.identity.Accounts;
import coppice.identity.ApiKeys;
import coppice.identity.Identities;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrants;
import coppice.metrics.Metrics;
import coppice.metrics.NetworkText;
import coppice.network.Networks;
import coppice.network.ServerKey;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import coppice.vm.BaseImage;
import coppice.vm.FabricWiring;
import coppice.vm.GuestFileAccess;
import coppice.vm.LifeTimers;
import coppice.vm.MemberNames;
import coppice.vm.SnapshotTimers;
import coppice.vm.Snapshots;
import coppice.vm.Terminals;
import coppice.vm.UploadTimers;
import coppice.vm.Uploads;
import coppice.vm.Usage;
import coppice.vm.Vms;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The whole server, constructed top to bottom and closed in reverse. Closing it leaves the VMs running.
final class Server implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Server.class);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private int port;

    private Server() {}

    /// @param home the project's directory, with the recipes of the guest images
    static Server start(Path home, Settings settings) {
        var server = new Server();
        try (var undo = new Undo()) {
            undo.add(server);
            server.open(home, settings);
            undo.keep();
            return server;
        }
    }

    private void open(Path home, Settings settings) {
        var data = settings.dataDirectory();
        keep(DataLock.take(data));
        Store.unpackInto(data.resolve("native"));
        var reflink = keep(new Reflink());
        var volume = DataVolume.prepare(data, settings.volumeSize(), reflink);
        var store = keep(Store.open(data.resolve("coppice.db")));
        var accounts = new Accounts(store, Clock.systemUTC());
        var networks = new Networks(store, NetworkKeys.limits(settings), Clock.systemUTC());
        var key = new ServerKey(data.resolve("wireguard.key"));
        var fabric = keep(fabric(settings, networks, key));
        var host = host(settings, volume, reflink, networks, fabric);
        var catalogue =
                new Snapshots.Catalogue(
                        accounts.platform(), settings.defaultImage(), settings.imageAliases());
        var vms =
                keep(
                        Vms.open(
                                host,
                                store,
                                accounts,
                                catalogue,
                                settings.vmLimits(),
                                Clock.systemUTC()));
        publish(new Images(home, settings, host.launcher().hypervisor()), settings, vms);
        keep(resolver(settings, vms, networks, fabric));
        keep(SnapshotTimers.start(vms.snapshots()));
        keep(LifeTimers.start(vms, settings.timerInterval()));
        var tokens = new IdentityTokens(store, Clock.systemUTC());
        var grants = new VmGrants(store, Clock.systemUTC());
        var rights = VmRights.of(grants);
        var more = new ArrayList<>(metrics(settings, store, accounts, host, fabric));
        more.addAll(files(vms, settings, store, host, rights));
        more.addAll(tunnels(settings, networks, key));
        more.addAll(identities(store, tokens, grants, vms));
        var routes = routes(vms, networks, settings, rights, more);
        var api = new Api(apiSettings(settings), credentials(store, tokens), routes);
        port = keep(HttpServer.start(address(settings), HttpLimits.DEFAULT, api)).port();
        LOG.info("listening on port {}, {}", port, host.launcher().hypervisor());
    }

    private static Fabric fabric(Settings settings, Networks networks, ServerKey key) {
        return Fabric.start(
                NetworkKeys.fabric(settings, DataLock.instance(settings.dataDirectory())),
                networks,
                new WireGuardEnd(key.privateKey(), settings.tunnels().firstPort()));
    }

    private static List<Route> tunnels(Settings settings, Networks networks, ServerKey key) {
        var tunnels = networks.tunnels(settings.tunnels(), key.publicKey());
        return new TunnelRoutes(networks, tunnels).routes();
    }

    private static Resolver resolver(Settings settings, Vms vms, Networks networks, Fabric fabric) {
        var address = InetAddress.ofLiteral(fabric.platform().toString());
        return Resolver.start(
                new InetSocketAddress(address, Fabric.RESOLVER_PORT),
                NetworkKeys.resolver(settings),
                new MemberNames(vms, networks, fabric),
                Clock.systemUTC());
    }

    private static Vms.Host host(
            Settings settings,
            DataVolume volume,
            Reflink reflink,
            Networks networks,
            Fabric fabric) {
        var instance = DataLock.instance(settings.dataDirectory());
        var node = new Node(settings.capacity(), volume::free);
        return new Vms.Host(
                volume.root(),
                reflink,
                new QemuLauncher(Hypervisor.find(), instance),
                node,
                networks,
                new FabricWiring(fabric, networks, node));
    }

    int port() {
        return port;
    }

    /// Puts the captured guest images into the catalogue. One that was not built is left out, and said so.
    private static void publish(Images images, Settings settings, Vms vms) {
        for (var image : settings.images()) {
            images.find(image)
                    .ifPresentOrElse(
                            capture ->
                                    vms.snapshots()
                                            .publish(
                                                    BaseImage.idOf(capture),
                                                    new Slug(image),
                                                    directory ->
                                                            BaseImage.copyFiles(
                                                                    capture, directory)),
                            () ->
                                    LOG.warn(
                                            "the guest image {} is not built; run './coppice image build'",
                                            image));
        }
    }

    /// The route of the metrics, when there is a token for them.
    private List<Route> metrics(
            Settings settings, Store store, Accounts accounts, Vms.Host host, Fabric fabric) {
        return settings
                .metricsToken()
                .map(
                        token -> {
                            var usage =
                                    keep(new Usage(store, accounts, host.root(), host.reflink()));
                            var reserve = settings.capacity().diskReserve();
                            return Metrics.of(
                                            token,
                                            usage,
                                            host.root(),
                                            reserve,
                                            deadline ->
                                                    NetworkText.read(fabric, accounts, deadline))
                                    .route();
                        })
                .stream()
                .toList();
    }

    private List<Route> files(
            Vms vms, Settings settings, Store store, Vms.Host host, VmRights rights) {
        var files = new GuestFileAccess(vms, settings.vmLimits().start());
        var uploads = new Uploads(vms, files, store, host, Clock.systemUTC());
        keep(UploadTimers.start(uploads));
        return Stream.of(
                        new FileRoutes(vms, files, rights).routes(),
                        new UploadRoutes(vms, uploads, rights).routes(),
                        new LegacyFileRoutes(vms, files, settings.brand().text(), rights).routes())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Route> identities(
            Store store, IdentityTokens tokens, VmGrants grants, Vms vms) {
        var identities = new Identities(store, Clock.systemUTC());
        return Stream.concat(
                        new IdentityRoutes(identities, tokens, grants, vms).routes().stream(),
                        new LegacyIdentityRoutes(identities, tokens, grants, vms).routes().stream())
                .toList();
    }

    private static List<Route> routes(
            Vms vms, Networks networks, Settings settings, VmRights rights, List<Route> more) {
        var brand = settings.brand().text();
        var terminals = new Terminals(vms);
        return Stream.of(
                        more,
                        new VmRoutes(vms, networks, NetworkKeys.egress(settings), rights).routes(),
                        new SnapshotRoutes(vms).routes(),
                        new TerminalRoutes(terminals).routes(),
                        new VpcRoutes(networks, vms).routes(),
                        new FirewallRoutes(networks, vms).routes(),
                        new LegacyVmRoutes(vms, brand, rights).routes(),
                        new LegacyTerminalRoutes(vms, terminals, brand).routes(),
                        new LegacySnapshotRoutes(vms.snapshots()).routes())
                .flatMap(List::stream)
                .toList();
    }

    private static InetSocketAddress address(Settings settings) {
        return new InetSocketAddress(settings.httpAddress(), settings.httpPort());
    }

    private static ApiSettings apiSettings(Settings settings) {
        var usual = ApiSettings.at(URI.create(settings.baseUrl()));
        return new ApiSettings(
                usual.baseUrl(),
                settings.brand().text(),
                usual.deprecatedSince(),
                usual.maxJson(),
                usual.maxJsonAtOnce(),
                usual.bodyTime());
    }

    private static StoredCredentials credentials(Store store, IdentityTokens tokens) {
        return new StoredCredentials(new ApiKeys(store, Clock.systemUTC()), tokens);
    }

    private <T extends AutoCloseable> T keep(T part) {
        parts.push(part);
        return part;
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                LOG.error("a part of the server did not close", e);
            }
        }
    }
}
