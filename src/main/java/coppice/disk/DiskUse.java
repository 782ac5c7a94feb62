package coppice.disk;

import coppice.base.Size;

/// The space that files take on the data volume. Holes take none.
///
/// @param own blocks that nothing else has: deleting the files gives them back
/// @param shared blocks that other files have too, by reflink or hard link; each of those counts them again
public record DiskUse(Size own, Size shared) {
    public static final DiskUse NONE = new DiskUse(new Size(0), new Size(0));

    public DiskUse plus(DiskUse other) {
        return new DiskUse(own.plus(other.own), shared.plus(other.shared));
    }
}
