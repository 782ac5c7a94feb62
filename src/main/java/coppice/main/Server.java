package coppice.main;

import coppice.api.Api;
import coppice.audit.AccessLog;
import coppice.audit.AuditEntry;
import coppice.audit.AuditLog;
import coppice.background.BackgroundLimits;
import coppice.background.BackgroundRequests;
import coppice.base.RandomText;
import coppice.base.Slug;
import coppice.base.Undo;
import coppice.disk.DataVolume;
import coppice.disk.Reflink;
import coppice.dns.Resolver;
import coppice.fabric.Fabric;
import coppice.fabric.WireGuardEnd;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.idempotency.IdempotencyKeys;
import coppice.identity.Accounts;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrants;
import coppice.network.Networks;
import coppice.network.ServerKey;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.ssh.Admission;
import coppice.ssh.Login;
import coppice.ssh.SshLogins;
import coppice.ssh.SshSettings;
import coppice.store.Store;
import coppice.vm.BaseImage;
import coppice.vm.FabricWiring;
import coppice.vm.LifeTimers;
import coppice.vm.MemberNames;
import coppice.vm.SnapshotTimers;
import coppice.vm.Snapshots;
import coppice.vm.Vms;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;
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
        var accounts = new Accounts(store, Clock.systemUTC(), settings.brand());
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
        serve(
                new ServedRoutes.Parts(
                        settings, store, accounts, host, fabric, vms, background(store, data)),
                key);
        LOG.info("listening on port {}, {}", port, host.launcher().hypervisor());
    }

    private BackgroundRequests background(Store store, Path data) {
        return keep(
                BackgroundRequests.open(
                        store,
                        data.resolve("background"),
                        BackgroundLimits.USUAL,
                        Clock.systemUTC()));
    }

    private void serve(ServedRoutes.Parts parts, ServerKey key) {
        var settings = parts.settings();
        var data = settings.dataDirectory();
        var audit = keep(AuditLog.usual(data.resolve("audit")));
        var api =
                new Api(
                        HttpKeys.api(settings),
                        StoredCredentials.of(parts.store()),
                        new ServedRoutes(parts, this::keep).all(key),
                        new Api.Lasting(
                                Optional.of(parts.background()),
                                Optional.of(
                                        keep(
                                                new IdempotencyKeys(
                                                        parts.store(), Clock.systemUTC()))),
                                audit::write,
                                keep(AccessLog.usual(data.resolve("access")))::write));
        api.resume();
        SshKeys.ssh(settings).ifPresent(ssh -> keep(logins(ssh, parts, audit)));
        port = keep(http(settings, api)).port();
    }

    private static SshLogins logins(
            SshSettings settings, ServedRoutes.Parts parts, AuditLog audit) {
        var admission =
                new Admission(
                        new IdentityTokens(parts.store(), Clock.systemUTC()),
                        new VmGrants(parts.store(), Clock.systemUTC()));
        return SshLogins.start(
                settings, parts.vms(), admission, login -> audit.write(entry(login)));
    }

    private static AuditEntry entry(Login login) {
        return new AuditEntry(
                Instant.now(),
                Optional.of(RandomText.mark("ssh-")),
                Optional.of(login.account().uuid()),
                Optional.of(login.identity().uuid()),
                Optional.empty(),
                Optional.of(login.tokenId()),
                "sshLogin",
                "/ssh/" + login.vm() + login.user().map(user -> "/" + user).orElse(""),
                OptionalInt.empty());
    }

    private static HttpServer http(Settings settings, Api api) {
        var address = address(settings);
        return HttpKeys.tls(settings)
                .map(tls -> HttpServer.start(address, HttpLimits.DEFAULT, api, tls))
                .orElseGet(() -> HttpServer.start(address, HttpLimits.DEFAULT, api));
    }

    private static Fabric fabric(Settings settings, Networks networks, ServerKey key) {
        return Fabric.start(
                NetworkKeys.fabric(settings, DataLock.instance(settings.dataDirectory())),
                networks,
                new WireGuardEnd(key.privateKey(), settings.tunnels().firstPort()));
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

    private static InetSocketAddress address(Settings settings) {
        return new InetSocketAddress(settings.httpAddress(), settings.httpPort());
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
