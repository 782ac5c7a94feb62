package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.HttpRequest;
import coppice.http.HttpResponse;
import coppice.idempotency.IdempotencyKeys;
import coppice.identity.AccountId;
import coppice.json.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// Has creates done once that are sent with an `Idempotency-Key`.
final class OnceOnly {
    static final String HEADER = "Idempotency-Key";
    private static final Pattern KEY = Pattern.compile("[!-~]{1,255}");

    private final IdempotencyKeys keys;

    OnceOnly(IdempotencyKeys keys) {
        this.keys = keys;
    }

    /// What the work answers, or answered when it was first asked for with this key.
    HttpResponse run(
            Route route,
            Caller caller,
            HttpRequest request,
            Call.Arguments arguments,
            Supplier<HttpResponse> work) {
        var key = route.description().isCreate() ? key(request) : Optional.<String>empty();
        if (key.isEmpty()) {
            return work.get();
        }
        var account = new AccountId(caller.account());
        return keys.once(account, key.get(), hash(route, request, arguments), work);
    }

    private static Optional<String> key(HttpRequest request) {
        var key = BrandedHeader.single(request.headers(), List.of(HEADER));
        if (key.filter(it -> !KEY.matcher(it).matches()).isPresent()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s must be 1 to 255 visible ASCII characters, such as a UUID"
                            .formatted(HEADER));
        }
        return key;
    }

    /// The same for a request and its repetition, also by the other path of the same operation.
    private static String hash(Route route, HttpRequest request, Call.Arguments arguments) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            for (var part :
                    List.of(
                            route.description().id(),
                            new TreeMap<>(arguments.path()).toString(),
                            request.query().orElse(""))) {
                digest.update(part.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0);
            }
            return HexFormat.of().formatHex(digest.digest(Json.write(arguments.body())));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
