package coppice.disk;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// How large a data volume is, and what is left for new data.
public record VolumeSpace(Size size, Size free) {

    /// @param root of a data volume that is mounted
    public static VolumeSpace of(Path root) {
        try {
            var store = Files.getFileStore(root);
            return new VolumeSpace(
                    new Size(store.getTotalSpace()), new Size(store.getUsableSpace()));
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the space of %s cannot be read".formatted(root), e);
        }
    }
}
