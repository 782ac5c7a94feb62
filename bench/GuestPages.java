import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What a QEMU has of the host's memory, in KiB (proc_pid_smaps(5)).
///
/// @param guest pages of the guest's memory that are its own: anonymous, in RAM or swapped. The others are of the image, and shared.
/// @param ownInAll all its pages that no other process maps, those of the guest included
/// @param share all its pages, each divided by how many processes map it
record GuestPages(long guest, long ownInAll, long share) {

    /// Of a process that maps a memory image.
    static GuestPages of(long pid) throws IOException {
        long guest = 0;
        long own = 0;
        long share = 0;
        boolean isImage = false;
        for (var line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "smaps"))) {
            var words = line.split(" +");
            switch (words[0]) {
                case "Anonymous:", "Swap:" -> guest += isImage ? Long.parseLong(words[1]) : 0;
                case "Private_Clean:", "Private_Dirty:" -> own += Long.parseLong(words[1]);
                case "Pss:" -> share += Long.parseLong(words[1]);
                default ->
                        isImage =
                                words[0].contains("-")
                                        ? line.matches(".*/ram( .deleted.)?")
                                        : isImage;
            }
        }
        return new GuestPages(guest, own, share);
    }
}
