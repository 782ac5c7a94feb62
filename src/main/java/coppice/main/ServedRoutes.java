package coppice.main;

import coppice.api.BackgroundRoutes;
import coppice.api.Readiness;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.api.legacy.LegacyFileRoutes;
import coppice.api.legacy.LegacyIdentityRoutes;
import coppice.api.legacy.LegacySnapshotRoutes;
import coppice.api.legacy.LegacyTerminalRoutes;
import coppice.api.legacy.LegacyVmRoutes;
import coppice.api.signin.ConfirmPage;
import coppice.api.signin.SignInRoutes;
import coppice.api.signin.Sources;
import coppice.api.signin.TeamRoutes;
import coppice.api.v5.FileRoutes;
import coppice.api.v5.FirewallRoutes;
import coppice.api.v5.IdentityRoutes;
import coppice.api.v5.SnapshotRoutes;
import coppice.api.v5.TerminalRoutes;
import coppice.api.v5.TunnelRoutes;
import coppice.api.v5.UploadRoutes;
import coppice.api.v5.VmRoutes;
import coppice.api.v5.VpcRoutes;
import coppice.background.BackgroundRequests;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.fabric.Fabric;
import coppice.identity.Accounts;
import coppice.identity.ApiKeys;
import coppice.identity.Identities;
import coppice.identity.IdentityTokens;
import coppice.identity.PasswordCheck;
import coppice.identity.Passwords;
import coppice.identity.Sessions;
import coppice.identity.SignIns;
import coppice.identity.Teams;
import coppice.identity.Users;
import coppice.identity.VmGrants;
import coppice.metrics.Metrics;
import coppice.metrics.NetworkText;
import coppice.network.Networks;
import coppice.network.ServerKey;
import coppice.store.Store;
import coppice.vm.GuestFileAccess;
import coppice.vm.TerminalTimers;
import coppice.vm.Terminals;
import coppice.vm.UploadTimers;
import coppice.vm.Uploads;
import coppice.vm.Usage;
import coppice.vm.Vms;
import java.nio.file.Files;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// All operations that a server has, made from its parts.
final class ServedRoutes {
    private final Parts parts;
    private final Consumer<AutoCloseable> keep;
    private final VmGrants grants;
    private final VmRights rights;

    /// What the operations work on.
    record Parts(
            Settings settings,
            Store store,
            Accounts accounts,
            Vms.Host host,
            Fabric fabric,
            Vms vms,
            BackgroundRequests background) {
        Networks networks() {
            return host.networks();
        }
    }

    /// @param keep takes what has to be closed when the server is
    ServedRoutes(Parts parts, Consumer<AutoCloseable> keep) {
        this.parts = parts;
        this.keep = keep;
        this.grants = new VmGrants(parts.store, Clock.systemUTC());
        this.rights = VmRights.of(grants);
    }

    List<Route> all(ServerKey key) {
        return Stream.of(
                        vms(),
                        files(),
                        terminals(),
                        networks(key),
                        identities(),
                        signIn(),
                        new BackgroundRoutes(parts.background, rights, brand()).routes(),
                        List.of(readiness().route()),
                        metrics())
                .flatMap(List::stream)
                .toList();
    }

    /// The store answers, and the data volume is there.
    private Readiness readiness() {
        return () -> {
            parts.store.requireAnswer();
            if (!Files.isDirectory(parts.host.root())) {
                throw new Failure(Code.UNAVAILABLE, "the data volume is not there");
            }
        };
    }

    private static List<Route> together(List<Route> first, List<Route> second) {
        return Stream.concat(first.stream(), second.stream()).toList();
    }

    private String brand() {
        return parts.settings.brand().text();
    }

    private List<Route> vms() {
        var vms = parts.vms;
        var egress = NetworkKeys.egress(parts.settings);
        return Stream.of(
                        new VmRoutes(vms, parts.networks(), egress, rights).routes(),
                        new LegacyVmRoutes(vms, brand(), rights).routes(),
                        new SnapshotRoutes(vms).routes(),
                        new LegacySnapshotRoutes(vms.snapshots()).routes())
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> files() {
        var vms = parts.vms;
        var files = new GuestFileAccess(vms, parts.settings.vmLimits().start());
        var uploads = new Uploads(vms, files, parts.store, parts.host, Clock.systemUTC());
        keep.accept(UploadTimers.start(uploads));
        return Stream.of(
                        new FileRoutes(vms, files, rights).routes(),
                        new UploadRoutes(vms, uploads, rights).routes(),
                        new LegacyFileRoutes(vms, files, brand(), rights).routes())
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> terminals() {
        var terminals = new Terminals(parts.vms);
        keep.accept(TerminalTimers.start(terminals));
        return together(
                new TerminalRoutes(terminals, rights).routes(),
                new LegacyTerminalRoutes(parts.vms, terminals, brand(), rights).routes());
    }

    private List<Route> networks(ServerKey key) {
        var networks = parts.networks();
        var tunnels = networks.tunnels(parts.settings.tunnels(), key.publicKey());
        return Stream.of(
                        new VpcRoutes(networks, parts.vms).routes(),
                        new FirewallRoutes(networks, parts.vms).routes(),
                        new TunnelRoutes(networks, tunnels).routes())
                .flatMap(List::stream)
                .toList();
    }

    private List<Route> identities() {
        var identities = new Identities(parts.store, Clock.systemUTC());
        var tokens = new IdentityTokens(parts.store, Clock.systemUTC());
        return together(
                new IdentityRoutes(identities, tokens, grants, parts.vms).routes(),
                new LegacyIdentityRoutes(identities, tokens, grants, parts.vms).routes());
    }

    private List<Route> signIn() {
        var clock = Clock.systemUTC();
        var signIns = new SignIns(parts.store, clock);
        var sessions = new Sessions(parts.store, clock);
        var users = new Users(parts.store, clock);
        var passwords = new Passwords();
        keep.accept(passwords);
        var check = new PasswordCheck(users, passwords, clock);
        var teams = new Teams(parts.store);
        var sources = new Sources(HttpKeys.proxies(parts.settings));
        return Stream.of(
                        new SignInRoutes(signIns, sessions, sources).routes(),
                        new ConfirmPage(signIns, check, sources).routes(),
                        new TeamRoutes(users, teams, new ApiKeys(parts.store, clock), sessions)
                                .routes())
                .flatMap(List::stream)
                .toList();
    }

    /// The route of the metrics, when there is a token for them.
    private List<Route> metrics() {
        return parts.settings.metricsToken().map(this::metrics).stream().toList();
    }

    private Route metrics(Secret token) {
        var host = parts.host;
        var usage = new Usage(parts.store, parts.accounts, host.root(), host.reflink());
        keep.accept(usage);
        return Metrics.of(
                        token,
                        usage,
                        host.root(),
                        parts.settings.capacity().diskReserve(),
                        deadline -> NetworkText.read(parts.fabric, parts.accounts, deadline))
                .route();
    }
}
