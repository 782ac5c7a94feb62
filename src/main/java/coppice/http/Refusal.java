package coppice.http;

import coppice.base.Failure;
import java.util.Optional;
import java.util.OptionalInt;

/// A request whose answer is not what the handler made of it. `status` is absent where the failure's code says it; `path` is absent
/// when the request could not be understood so far.
public record Refusal(OptionalInt status, Failure why, Optional<String> path) {
    Refusal(int status, Failure why, Optional<String> path) {
        this(OptionalInt.of(status), why, path);
    }
}
