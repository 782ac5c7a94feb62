package coppice.vm;

import coppice.base.Deadline;

/// Where the bytes of a file that is written come from.
@FunctionalInterface
public interface FileSource {
    /// Reads up to `length` bytes to `into` from `at` on, waiting for the first of them, and tells how many; 0 is the end. Fails when the
    /// bytes end before they should, or none comes by the deadline.
    int read(byte[] into, int at, int length, Deadline deadline);
}
