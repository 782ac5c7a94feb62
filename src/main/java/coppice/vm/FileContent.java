package coppice.vm;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// What a file is to become.
///
/// @param size in bytes; the source must have exactly so many
/// @param mode permission bits; absent: those of the file that is replaced, or 0600
/// @param checksum the CRC-32C that the guest must find on its disk; absent: it does not look
/// @param sha256 what the bytes must have, in lower case; absent: anything
public record FileContent(
        long size,
        OptionalInt mode,
        Optional<String> sha256,
        OptionalLong checksum,
        FileSource source) {}
