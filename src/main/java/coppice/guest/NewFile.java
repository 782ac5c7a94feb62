package coppice.guest;

import java.util.OptionalInt;
import java.util.OptionalLong;

/// A file that is to be written: its size in bytes; its mode, or else that of the file it replaces, or 0600; the CRC-32C of its
/// bytes, which the guest then checks on its disk.
public record NewFile(long size, OptionalInt mode, OptionalLong checksum) {
    public NewFile {
        if (size < 0
                || (mode.orElse(0) & ~07777) != 0
                || (checksum.orElse(0) & ~0xFFFF_FFFFL) != 0) {
            throw new IllegalArgumentException("no file can be such: " + size);
        }
    }
}
