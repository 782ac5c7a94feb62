package coppice.base;

/// The stable names of failures, as the wire contract spells them.
public enum Code {
    BAD_REQUEST(Kind.INVALID),
    MISSING_CREDENTIALS(Kind.UNAUTHENTICATED),
    INVALID_API_KEY(Kind.UNAUTHENTICATED),
    INVALID_IDENTITY_TOKEN(Kind.UNAUTHENTICATED),
    INVALID_CLI_CREDENTIAL(Kind.UNAUTHENTICATED),
    INVALID_CLI_TEAM_HEADER(Kind.INVALID),
    FORBIDDEN(Kind.FORBIDDEN),
    VM_LIMIT_EXCEEDED(Kind.FORBIDDEN),
    TOTAL_VM_LIMIT_EXCEEDED(Kind.FORBIDDEN),
    NOT_FOUND(Kind.ABSENT),
    METHOD_NOT_ALLOWED(Kind.METHOD),
    CONFLICT(Kind.CONFLICT),
    AGENT_UNSUPPORTED(Kind.CONFLICT),
    PAYLOAD_TOO_LARGE(Kind.TOO_LARGE),
    UNSUPPORTED_MEDIA_TYPE(Kind.UNSUPPORTED_TYPE),
    RATE_LIMITED(Kind.BUSY),
    UNAVAILABLE(Kind.UNAVAILABLE),
    VM_START_TIMEOUT(Kind.TIMEOUT),
    INTERNAL_ERROR(Kind.INTERNAL);

    private final Kind kind;

    Code(Kind kind) {
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
