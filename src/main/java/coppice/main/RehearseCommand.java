package coppice.main;

import coppice.api.Api;
import coppice.api.ApiSettings;
import coppice.api.Caller;
import coppice.api.VmRights;
import coppice.api.v5.VmRoutes;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.base.Undo;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.identity.Accounts;
import coppice.identity.ApiKeys;
import coppice.network.NetworkLimits;
import coppice.network.Networks;
import coppice.node.Node;
import coppice.qemu.Hypervisor;
import coppice.qemu.QemuLauncher;
import coppice.store.Store;
import coppice.vm.Snapshots;
import coppice.vm.Vms;
import coppice.vm.Wiring;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;

/// A short life of a server without VMs, in a directory of its own: the build runs it once and has the JVM remember what was loaded, so
/// that servers start sooner. Nothing of this machine is changed.
@Command(
        name = "rehearse",
        hidden = true,
        description = "Start and stop a server without VMs; part of the build.",
        mixinStandardHelpOptions = true)
final class RehearseCommand implements Runnable {
    private static final int TIMES = 20;
    private static final int TIMEOUT_MILLIS = 10_000;

    @Override
    public void run() {
        try {
            var directory = Files.createTempDirectory("coppice-rehearsal-");
            try {
                rehearse(directory);
            } finally {
                Published.delete(directory);
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the rehearsal failed", e);
        }
    }

    private static void rehearse(Path directory) throws IOException {
        // The defaults, not what this machine has configured: the outcome belongs to the build.
        var settings = Settings.read(Map.of("COPPICE_CONFIG", "/dev/null"));
        try (var undo = new Undo()) {
            undo.add(DataLock.take(directory));
            var reflink = undo.add(new Reflink());
            reflink.worksIn(directory);
            var store = undo.add(Store.open(directory.resolve("coppice.db")));
            var accounts = new Accounts(store, Clock.systemUTC());
            var keys = new ApiKeys(store, Clock.systemUTC());
            var networks = new Networks(store, NetworkLimits.USUAL, Clock.systemUTC());
            var vms = undo.add(vms(directory, settings, reflink, store, networks, accounts));
            var api =
                    new Api(
                            ApiSettings.at(URI.create(settings.baseUrl())),
                            bearer -> caller(keys, bearer.reveal()),
                            new VmRoutes(vms, networks, Optional.empty(), VmRights.NONE).routes());
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            var http = undo.add(HttpServer.start(address, HttpLimits.DEFAULT, api));
            var account = accounts.create(new Slug("rehearsal"), "rehearsal");
            ask(http.port(), keys.create(account.id(), "rehearsal").bearer().reveal());
        }
    }

    private static Vms vms(
            Path directory,
            Settings settings,
            Reflink reflink,
            Store store,
            Networks networks,
            Accounts accounts) {
        var launcher =
                new QemuLauncher(Hypervisor.find(), "rehearse-" + ProcessHandle.current().pid());
        var node = new Node(settings.capacity(), () -> settings.capacity().diskReserve());
        var catalogue =
                new Snapshots.Catalogue(
                        accounts.platform(), settings.defaultImage(), settings.imageAliases());
        return Vms.open(
                new Vms.Host(directory, reflink, launcher, node, networks, Wiring.NONE),
                store,
                accounts,
                catalogue,
                settings.vmLimits(),
                Clock.systemUTC());
    }

    private static Caller caller(ApiKeys keys, String bearer) {
        return keys.authenticate(bearer)
                .map(caller -> new Caller(caller.account().uuid()))
                .orElseThrow(() -> new Failure(Code.INVALID_API_KEY, "unknown key"));
    }

    private static void ask(int port, String key) throws IOException {
        for (int i = 0; i < TIMES; i++) {
            get(port, key, "/status");
            get(port, key, "/openapi.json");
            get(port, key, "/v5/vms");
            get(port, key, "/v5/vms/nobody");
        }
    }

    private static void get(int port, String key, String path) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            var request =
                    "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n"
                            .formatted(path, key);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        }
    }
}
