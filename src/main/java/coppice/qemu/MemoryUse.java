package coppice.qemu;

import coppice.base.Size;
import coppice.process.ProcessId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// How much of this host's memory a machine takes.
///
/// @param own guest memory that the guest has written since its image: no other machine has it
/// @param shared guest memory that is the image's, in the host's page cache: all machines on one image share it
/// @param qemu what QEMU has beside the guest's memory and no other process has
public record MemoryUse(Size own, Size shared, Size qemu) {
    public static final MemoryUse NONE = new MemoryUse(new Size(0), new Size(0), new Size(0));

    public MemoryUse plus(MemoryUse other) {
        return new MemoryUse(own.plus(other.own), shared.plus(other.shared), qemu.plus(other.qemu));
    }

    /// Reads what a machine takes now. Asks the kernel only: the machine does not notice.
    ///
    /// @return empty when the process has ended
    public static Optional<MemoryUse> of(ProcessId process, MachineFiles files) {
        var proc = Path.of("/proc", Long.toString(process.pid()));
        try {
            var mappings =
                    Smaps.parse(
                            Files.readAllLines(proc.resolve("smaps"), StandardCharsets.ISO_8859_1));
            var use = sum(mappings, proc, images(files));
            return process.isAlive() ? Optional.of(use) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // there is nothing to read of a process that ends meanwhile
        }
    }

    private static MemoryUse sum(List<Smaps.Mapping> mappings, Path proc, List<Image> images)
            throws IOException {
        long own = 0;
        long shared = 0;
        long qemu = 0;
        for (var mapping : mappings) {
            if (isGuests(mapping, proc, images)) {
                own += mapping.anonymous();
                shared += mapping.resident() - mapping.anonymous();
            } else {
                qemu += mapping.alone();
            }
        }
        return new MemoryUse(new Size(own), new Size(shared), new Size(qemu));
    }

    /// A file that guest memory is mapped from.
    private record Image(Path path, long inode) {}

    private static List<Image> images(MachineFiles files) throws IOException {
        var images = new ArrayList<Image>();
        var paths = new ArrayList<>(List.of(files.ram()));
        for (int i = 0; i < MachineShape.MEMORY_SLOTS; i++) {
            paths.add(files.module(i));
        }
        for (var path : paths) {
            try {
                images.add(new Image(path, (long) Files.getAttribute(path, "unix:ino")));
            } catch (NoSuchFileException e) {
                // It has no such module.
            }
        }
        return images;
    }

    /// Inode numbers are compared first, since that is cheap; only the mapped file itself is sure, see [MemoryMap#of(Path)].
    private static boolean isGuests(Smaps.Mapping mapping, Path proc, List<Image> images)
            throws IOException {
        for (var image : images) {
            if (image.inode() == mapping.inode()) {
                var mapped = "%x-%x".formatted(mapping.start(), mapping.end());
                if (Files.isSameFile(proc.resolve("map_files").resolve(mapped), image.path())) {
                    return true;
                }
            }
        }
        return false;
    }
}
