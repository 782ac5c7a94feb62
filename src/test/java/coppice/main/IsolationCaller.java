package coppice.main;

import coppice.http.RawPeer;
import coppice.http.RawSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/// Somebody who calls.
///
/// @param who for the message of a test that fails
/// @param header in which the credential is sent
/// @param signIn the access token of somebody who has signed in, for what no other credential is for
record IsolationCaller(
        Installation installation,
        String who,
        boolean isIdentity,
        String header,
        String credential,
        Optional<String> signIn) {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    static IsolationCaller withKey(Installation installation, String who, String key) {
        return new IsolationCaller(
                installation, who, false, "Authorization", "Bearer " + key, Optional.empty());
    }

    static IsolationCaller withToken(Installation installation, String who, String token) {
        return new IsolationCaller(
                installation, who, true, "x-svc-identity-access-token", token, Optional.empty());
    }

    IsolationCaller signedIn(String accessToken) {
        return new IsolationCaller(
                installation, who, isIdentity, header, credential, Optional.of(accessToken));
    }

    Client client() {
        var client = installation.clientWithKey("").with(header, credential);
        return signIn.map("{\"accessToken\":\"%s\"}"::formatted)
                .map(value -> client.with("x-stack-auth", value))
                .orElse(client);
    }

    /// What comes back; of a body that does not end, nothing.
    IsolationAnswer send(IsolationCall call) {
        return call.operation().isUpgrade() ? shakeHands(call) : ask(call);
    }

    private IsolationAnswer ask(IsolationCall call) {
        var operation = call.operation();
        return IsolationAnswer.of(
                call,
                EveryOperationAnswer.of(
                        client(), operation, call.target(), call.body(), call.headers()));
    }

    /// Asks for a WebSocket, of which nothing more is wanted than whether it would be opened.
    private IsolationAnswer shakeHands(IsolationCall call) {
        var server = new InetSocketAddress(installation.address(), installation.port());
        try (var peer = new RawPeer(server, PATIENCE)) {
            var answer =
                    peer.send(
                                    "GET %s HTTP/1.1\r\n%s: %s\r\n%s\r\n"
                                            .formatted(
                                                    call.target(),
                                                    header,
                                                    credential,
                                                    RawSocket.ASK))
                            .answer();
            return IsolationAnswer.of(
                    call,
                    new EveryOperationAnswer(
                            call.operation(),
                            answer.status(),
                            headers(answer.head()),
                            answer.body().getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(call.toString(), e);
        }
    }

    private static HttpHeaders headers(String head) {
        var headers = new TreeMap<String, List<String>>();
        head.lines()
                .skip(1)
                .filter(line -> line.contains(": "))
                .map(line -> line.split(": ", 2))
                .forEach(line -> headers.put(line[0].toLowerCase(Locale.ROOT), List.of(line[1])));
        return HttpHeaders.of(headers, (_, _) -> true);
    }
}
