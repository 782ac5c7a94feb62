package coppice.base;

import java.util.Map;

/// The one exception of this program: something asked for could not be done, and the caller should know why.
///
/// The message is a sentence for a person. It names the thing and the remedy and is safe to show to the caller. Anything else
/// that is thrown is a fault of ours. `details` are further members of the error body, where the contract names them.
public final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Code code;
    private final transient Map<String, Object> details;

    public Failure(Code code, String message) {
        this(code, message, Map.of(), null);
    }

    public Failure(Code code, String message, Throwable cause) {
        this(code, message, Map.of(), cause);
    }

    public Failure(Code code, String message, Map<String, Object> details) {
        this(code, message, details, null);
    }

    private Failure(Code code, String message, Map<String, Object> details, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.details = Map.copyOf(details);
    }

    public Code code() {
        return code;
    }

    public Map<String, Object> details() {
        return details;
    }
}
