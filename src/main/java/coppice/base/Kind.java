package coppice.base;

/// What a caller does next about a [Failure]. The API maps each kind to one HTTP status, the command line to one exit status.
public enum Kind {
    /// The request itself is wrong; change it.
    INVALID,
    /// No usable credential.
    UNAUTHENTICATED,
    /// The credential does not allow this, or a limit of the account is reached.
    FORBIDDEN,
    /// The thing named does not exist for this caller.
    ABSENT,
    /// The thing named was there for this caller, and is not any more.
    GONE,
    /// The operation exists, but not with this method.
    METHOD,
    /// The state of things is against it; change that first.
    CONFLICT,
    /// The body is larger than allowed.
    TOO_LARGE,
    /// The body has a content type that is not understood.
    UNSUPPORTED_TYPE,
    /// The part that is asked for is not there: the detail `size` says how large the whole is.
    UNSATISFIABLE,
    /// The operation is spoken in another protocol; switch to that.
    UPGRADE,
    /// Too many at once; try later.
    BUSY,
    /// A needed part is down; try again.
    UNAVAILABLE,
    /// It was not done in time.
    TIMEOUT,
    /// There is no room left where it should be kept; make room first.
    FULL,
    /// Our fault.
    INTERNAL
}
