package coppice.main;

/// What a call can name. Whatever it is, it is looked up among what the caller's account has.
enum IsolationKind {
    VM,
    SNAPSHOT,
    VPC,
    TUNNEL,
    RULE,
    IDENTITY,
    TOKEN,
    UPLOAD,
    BACKGROUND,
    TERMINAL,
    SERVICE,
    FILE,
    ACCOUNT,
    API_KEY,

    /// A slug that something is to have, rather than has.
    VM_SLUG,
    SNAPSHOT_SLUG,
    VPC_SLUG,
    TUNNEL_SLUG,
    TERMINAL_SLUG,

    /// What a VM's metadata says.
    LABEL,

    /// Part of a snapshot's id, slug or name.
    WORDS,
    ADDRESS,
    RANGE,
    RANGE_V6,
    DOMAIN,

    /// What makes a create one that is done once.
    ONCE;

    /// Whether a create or a change may go well with such a name, though another account has it.
    boolean isFree() {
        return switch (this) {
            case VM_SLUG, SNAPSHOT_SLUG, VPC_SLUG, TUNNEL_SLUG, TERMINAL_SLUG -> true;
            case LABEL, RANGE, RANGE_V6, ONCE, FILE -> true;
            case VM, SNAPSHOT, VPC, TUNNEL, RULE, IDENTITY, TOKEN -> false;
            case UPLOAD, BACKGROUND, TERMINAL, SERVICE, ACCOUNT, API_KEY -> false;
            case WORDS, ADDRESS, DOMAIN -> false;
        };
    }
}
