package coppice.api.v5;

import coppice.api.ApiCaller;
import coppice.api.Caller;
import coppice.api.Credentials;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.api.legacy.LegacyFileRoutes;
import coppice.api.legacy.LegacyIdentityRoutes;
import coppice.api.legacy.LegacyTerminalRoutes;
import coppice.api.legacy.LegacyVmRoutes;
import coppice.base.Secret;
import coppice.identity.Identities;
import coppice.identity.IdentityId;
import coppice.identity.IdentityTokens;
import coppice.identity.VmGrants;
import coppice.vm.GivenVms;
import coppice.vm.GuestFileAccess;
import coppice.vm.Terminals;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/// The routes of identities and of VMs in all families. Ada has a VM, which is stopped, and Bob has none.
public final class IdentityServer implements AutoCloseable {
    private final GivenVms given;
    private final IdentityTokens tokens;
    private final List<Route> routes;

    public IdentityServer(Path directory) {
        given = new GivenVms(directory);
        var clock = Clock.systemUTC();
        tokens = new IdentityTokens(given.store(), clock);
        var identities = new Identities(given.store(), clock);
        var grants = new VmGrants(given.store(), clock);
        var rights = VmRights.of(grants);
        var files = new GuestFileAccess(given.vms(), Duration.ofSeconds(10));
        var terminals = new Terminals(given.vms());
        routes =
                Stream.of(
                                new IdentityRoutes(identities, tokens, grants, given.vms())
                                        .routes(),
                                new LegacyIdentityRoutes(identities, tokens, grants, given.vms())
                                        .routes(),
                                new VmRoutes(
                                                given.vms(),
                                                given.networks(),
                                                Optional.empty(),
                                                rights)
                                        .routes(),
                                new FileRoutes(given.vms(), files, rights).routes(),
                                new UploadRoutes(
                                                given.vms(),
                                                given.uploads(InstantSource.system()),
                                                rights)
                                        .routes(),
                                new TerminalRoutes(terminals, rights).routes(),
                                new LegacyTerminalRoutes(given.vms(), terminals, "svc", rights)
                                        .routes(),
                                new LegacyFileRoutes(given.vms(), files, "svc", rights).routes(),
                                new LegacyVmRoutes(given.vms(), "svc", rights).routes())
                        .flatMap(List::stream)
                        .toList();
    }

    /// What contract/auth-and-identities.md lets identities do to files, if they may act as root, by the ids of the operations.
    public static final Set<String> FILES =
            Set.of(
                    "readFile",
                    "writeFile",
                    "listDirectory",
                    "makeDirectory",
                    "removeFile",
                    "fileExists",
                    "statFile",
                    "openUpload",
                    "getUpload",
                    "uploadChunk",
                    "commitUpload",
                    "abortUpload",
                    "legacyReadFile",
                    "legacyWriteFile",
                    "legacyWatchFiles");

    public GivenVms given() {
        return given;
    }

    public List<Route> routes() {
        return routes;
    }

    public ApiCaller ada() {
        return new ApiCaller(routes, credentials(), given.ada().uuid());
    }

    public ApiCaller bob() {
        return ada().as(given.bob().uuid());
    }

    private Credentials credentials() {
        return new Credentials() {
            @Override
            public Caller resolve(Secret apiKey) {
                return new Caller(UUID.fromString(apiKey.reveal()));
            }

            @Override
            public Caller identity(Secret accessToken) {
                return tokens.authenticate(accessToken.reveal())
                        .map(
                                known ->
                                        new Caller(
                                                known.account().uuid(),
                                                known.identity().map(IdentityId::uuid)))
                        .orElseThrow(Credentials::unknownToken);
            }
        };
    }

    /// The id of Ada's VM.
    public String vm() {
        return given.stopped().id().text();
    }

    @Override
    public void close() {
        given.close();
    }
}
