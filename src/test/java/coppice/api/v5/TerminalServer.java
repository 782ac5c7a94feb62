package coppice.api.v5;

import coppice.api.Api;
import coppice.api.ApiCaller;
import coppice.api.ApiSettings;
import coppice.api.Caller;
import coppice.api.Credentials;
import coppice.api.Route;
import coppice.api.VmRights;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.http.HttpLimits;
import coppice.http.HttpServer;
import coppice.identity.IdentityId;
import coppice.identity.LinuxUsers;
import coppice.identity.VmGrant;
import coppice.vm.GivenTerminals;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/// A real server for the terminals of [GivenTerminals], and clients of it.
final class TerminalServer implements AutoCloseable {
    final GivenTerminals given = new GivenTerminals();
    private static final String TOKEN_HEADER = "x-svc-identity-access-token";

    /// Which users of the guest each identity may act as, by its token; one without a token is absent.
    final Map<UUID, LinuxUsers> identities = new ConcurrentHashMap<>();

    /// API keys that are not good any more.
    final Set<String> revokedKeys = ConcurrentHashMap.newKeySet();

    /// Tokens that are not good any more.
    final Set<UUID> revokedTokens = ConcurrentHashMap.newKeySet();

    /// When nobody can tell what is good.
    volatile boolean isStoreDown;

    private final List<Route> routes =
            new TerminalRoutes(given.terminals(), VmRights.by(this::grant)).routes();
    private final HttpServer server;

    TerminalServer() {
        server =
                HttpServer.start(
                        new InetSocketAddress("127.0.0.1", 0),
                        HttpLimits.DEFAULT,
                        new Api(
                                ApiSettings.at(URI.create("https://api.test")),
                                new Known(),
                                routes));
    }

    ApiCaller ada() {
        return new ApiCaller(routes, new Known(), given.ada().uuid());
    }

    private final class Known implements Credentials {
        @Override
        public Caller resolve(Secret apiKey) {
            requireStore();
            if (revokedKeys.contains(apiKey.reveal())) {
                throw new Failure(Code.INVALID_API_KEY, "revoked");
            }
            return new Caller(UUID.fromString(apiKey.reveal()));
        }

        /// An identity's token is its id.
        @Override
        public Caller identity(Secret accessToken) {
            requireStore();
            var identity = UUID.fromString(accessToken.reveal());
            if (revokedTokens.contains(identity)) {
                throw Credentials.unknownToken();
            }
            return new Caller(given.ada().uuid(), Optional.of(identity));
        }
    }

    private void requireStore() {
        if (isStoreDown) {
            throw new Failure(Code.UNAVAILABLE, "the store is down");
        }
    }

    private Optional<VmGrant> grant(IdentityId identity, String vm) {
        requireStore();
        return Optional.ofNullable(identities.get(identity.uuid()))
                .map(users -> new VmGrant(UUID.randomUUID(), identity, vm, users, Instant.EPOCH));
    }

    /// A new identity that may act as these users of the VM.
    UUID identity(LinuxUsers users) {
        var identity = UUID.randomUUID();
        identities.put(identity, users);
        return identity;
    }

    /// Opens a WebSocket as an identity.
    TerminalPeer open(UUID identity, String path) {
        return TerminalPeer.open(address("web", path), TOKEN_HEADER, identity.toString());
    }

    /// Opens a WebSocket at this path below the VM's terminals.
    TerminalPeer open(String path) {
        return TerminalPeer.open(address("web", path), given.ada().toString());
    }

    int refused(String path) {
        return TerminalPeer.refused(address("web", path), given.ada().toString());
    }

    URI address(String vm, String path) {
        return URI.create("ws://127.0.0.1:%d/v5/vms/%s/pty%s".formatted(server.port(), vm, path));
    }

    void stopServer() {
        server.close();
    }

    @Override
    public void close() {
        server.close();
        given.close();
    }
}
