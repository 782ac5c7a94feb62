package coppice.vm;

import java.util.Optional;
import java.util.OptionalInt;

/// A file on its way into a VM, in chunks.
///
/// @param id `up-` and 20 characters
/// @param received how many bytes are here for good: where the next chunk begins
public record Upload(String id, VmId vm, Wanted wanted, long received) {
    /// What the file is to become.
    ///
    /// @param size in bytes
    /// @param sha256 in lower case; absent: anything
    /// @param mode permission bits; absent: those of the file that is replaced, or 0600
    public record Wanted(GuestPath path, long size, Optional<String> sha256, OptionalInt mode) {}
}
