package coppice.base;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// The one exception of this program: something asked for could not be done, and the caller should know why.
///
/// The message is a sentence for a person. It names the thing and the remedy and is safe to show to the caller. Anything else
/// that is thrown is a fault of ours. `details` are further members of the error body, where the contract names them.
public final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Code code;
    private final transient Map<String, Object> details;
    private final transient Optional<Duration> retryAfter;

    public Failure(Code code, String message) {
        this(code, message, Map.of(), Optional.empty(), null);
    }

    public Failure(Code code, String message, Throwable cause) {
        this(code, message, Map.of(), Optional.empty(), cause);
    }

    public Failure(Code code, String message, Map<String, Object> details) {
        this(code, message, details, Optional.empty(), null);
    }

    private Failure(
            Code code,
            String message,
            Map<String, Object> details,
            Optional<Duration> retryAfter,
            Throwable cause) {
        super(message, cause);
        this.code = code;
        this.details = Map.copyOf(details);
        this.retryAfter = retryAfter;
    }

    public Code code() {
        return code;
    }

    public Map<String, Object> details() {
        return details;
    }

    /// The same failure, which also tells the caller how long to wait before trying again.
    public Failure retryAfter(Duration wait) {
        return new Failure(code, getMessage(), details, Optional.of(wait), getCause());
    }

    /// The same failure under the name that an older client knows it by, with this one as its cause.
    public Failure as(Code other, Map<String, Object> more) {
        return new Failure(other, getMessage(), more, retryAfter, this);
    }

    public Optional<Duration> retryAfter() {
        return retryAfter;
    }
}
