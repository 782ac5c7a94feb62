package coppice.fabric;

/// Bytes that have passed somewhere since it was made.
///
/// @param out from the guest, or from the tunnel's client
/// @param in to it
public record Passed(long out, long in) {
    public long both() {
        return out + in;
    }
}
