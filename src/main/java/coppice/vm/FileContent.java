package coppice.vm;

import java.util.Optional;
import java.util.OptionalInt;

/// What a file is to become.
///
/// @param size in bytes; the source must have exactly so many
/// @param mode permission bits; absent: those of the file that is replaced, or 0600
/// @param sha256 what the bytes must have, in lower case; absent: anything
public record FileContent(
        long size, OptionalInt mode, Optional<String> sha256, FileSource source) {}
