package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.v5.TerminalPeer;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Calls operations where one family has them, and holds the server to what its document says of every answer.
final class EveryOperationCaller {
    private static final String DEPRECATED = "@1735689600";
    private static final int UNKNOWN = 401;
    private static final byte[] NOTHING = new byte[0];

    private final Installation installation;
    private final PublishedDocument document;
    private final String key;
    private final Client client;
    private final String prefix;
    private final Called called;

    /// The names of operations.
    ///
    /// @param done those that were called with success
    /// @param refused those that were called in vain, by someone who is known
    record Called(Set<String> done, Set<String> refused) {
        Called() {
            this(new TreeSet<>(), new TreeSet<>());
        }

        private void note(EveryOperationAnswer answer) {
            if (answer.status() < 400) {
                done.add(answer.operation().id());
            } else if (answer.status() != UNKNOWN) {
                refused.add(answer.operation().id());
            }
        }
    }

    /// @param key the key of an account
    EveryOperationCaller(Installation installation, PublishedDocument document, String key) {
        this(installation, document, key, installation.clientWithKey(key), "", new Called());
    }

    private EveryOperationCaller(
            Installation installation,
            PublishedDocument document,
            String key,
            Client client,
            String prefix,
            Called called) {
        this.installation = installation;
        this.document = document;
        this.key = key;
        this.client = client;
        this.prefix = prefix;
        this.called = called;
    }

    /// The same caller, who puts this in front of paths.
    EveryOperationCaller at(String family) {
        return new EveryOperationCaller(installation, document, key, client, family, called);
    }

    /// One who sends this header, too.
    EveryOperationCaller with(String header, String value) {
        return as(client.with(header, value));
    }

    /// Whoever has this access token, at the same paths.
    EveryOperationCaller withToken(String token) {
        return as(client.withToken(token));
    }

    /// Whoever has this key, at the same paths.
    EveryOperationCaller withKey(String other) {
        return as(installation.clientWithKey(other));
    }

    private EveryOperationCaller as(Client other) {
        return new EveryOperationCaller(installation, document, key, other, prefix, called);
    }

    PublishedDocument document() {
        return document;
    }

    Called called() {
        return called;
    }

    /// @param call `GET /vms`
    EveryOperationAnswer done(String call) {
        return done(call, NOTHING);
    }

    EveryOperationAnswer done(String call, String body) {
        return done(call, body.getBytes(UTF_8));
    }

    EveryOperationAnswer done(String call, byte[] body) {
        var answer = answer(call, body);
        assertEquals(2, answer.status() / 100, () -> shown(answer));
        document.requireTaken(answer.operation(), body);
        return answer;
    }

    private String shown(EveryOperationAnswer answer) {
        return answer.status() < 500 ? answer.toString() : answer + "\n" + client.log();
    }

    void refused(int status, String code, String call) {
        refused(status, code, call, "");
    }

    void refused(int status, String code, String call, String body) {
        var answer = answer(call, body.getBytes(UTF_8));
        assertEquals(status + " " + code, answer.status() + " " + answer.text("code"), call);
    }

    /// Calls it, and asks no more of the answer than that the document describes it.
    EveryOperationAnswer answer(String call, byte[] body) {
        var words = call.split(" ", 2);
        var path = prefix + words[1].replaceAll("\\?.*", "");
        var operation = document.operation(words[0], path);
        requireQuery(operation, words[1]);
        var answer = EveryOperationAnswer.of(client, operation, prefix + words[1], body, Map.of());
        requireMarks(answer, path);
        document.requireTrue(answer);
        called.note(answer);
        return answer;
    }

    private static void requireQuery(PublishedOperation operation, String target) {
        var query = target.contains("?") ? target.substring(target.indexOf('?') + 1) : "";
        for (var pair : query.split("&")) {
            assertTrue(
                    pair.isEmpty() || operation.hasQuery(pair.replaceAll("=.*", "")),
                    () -> operation.id() + " has no query parameter " + pair);
        }
    }

    /// Whether it says that it is deprecated, and what takes its place.
    private static void requireMarks(EveryOperationAnswer answer, String path) {
        boolean isDeprecated = answer.operation().isDeprecated();
        assertEquals(
                isDeprecated ? Optional.of(DEPRECATED) : Optional.empty(),
                answer.headers().firstValue("Deprecation"),
                answer::toString);
        var successor = answer.headers().firstValue("Link");
        assertEquals(isDeprecated, successor.isPresent(), answer::toString);
        if (isDeprecated) {
            // The answer of another call names what takes the place of that one.
            var where = answer.operation().isReplay() ? "" : "/v5" + path;
            var wanted = where + ">; rel=\"successor-version\"";
            assertTrue(successor.get().endsWith(wanted), () -> successor.get() + ": " + answer);
        }
    }

    /// Opens the WebSocket of a terminal.
    TerminalPeer terminal(String path) {
        var operation = document.operation("GET", (prefix + path).replaceAll("\\?.*", ""));
        requireQuery(operation, path);
        assertTrue(operation.isUpgrade(), operation.id());
        var address =
                "ws://%s:%d%s%s"
                        .formatted(installation.address(), installation.port(), prefix, path);
        var peer = TerminalPeer.open(URI.create(address), key);
        called.done.add(operation.id());
        return peer;
    }
}
