package coppice.qemu;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SmapsTest {
    private static final String GIVEN =
            """
            7f0000000000-7f0008000000 rw-p 00000000 07:00 131                        /data/volume/vms/vm-1/ram
            Size:             131072 kB
            KernelPageSize:        4 kB
            MMUPageSize:           4 kB
            Rss:               60000 kB
            Pss:               41000 kB
            Pss_Dirty:          9000 kB
            Shared_Clean:      50000 kB
            Shared_Dirty:          0 kB
            Private_Clean:      1000 kB
            Private_Dirty:      9000 kB
            Referenced:        60000 kB
            Anonymous:          9000 kB
            KSM:                   0 kB
            THPeligible:           0
            VmFlags: rd wr mr mw me dd sd
            55d000000000-55d000100000 rw-p 00000000 00:00 0                          [heap]
            Size:               1024 kB
            Rss:                 512 kB
            Private_Clean:         4 kB
            Private_Dirty:       508 kB
            Anonymous:           508 kB
            VmFlags: rd wr mr mw me ac sd
            ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
            Size:                  4 kB
            Rss:                   0 kB
            """;

    @Test
    void everyMappingIsReadWithWhatIsInMemory() {
        assertEquals(
                List.of(
                        new Smaps.Mapping(
                                0x7f0000000000L,
                                0x7f0008000000L,
                                131,
                                60000 << 10,
                                9000 << 10,
                                10000 << 10),
                        new Smaps.Mapping(
                                0x55d000000000L,
                                0x55d000100000L,
                                0,
                                512 << 10,
                                508 << 10,
                                512 << 10),
                        new Smaps.Mapping(0xffffffffff600000L, 0xffffffffff601000L, 0, 0, 0, 0)),
                Smaps.parse(GIVEN.lines().toList()));
    }

    @Test
    void aNameThatLooksLikeALineOfSizesIsAName() {
        var lines =
                List.of(
                        "1000-2000 rw-p 00000000 07:00 5       /data/Rss: 7 kB",
                        "Rss:                   4 kB");
        assertEquals(List.of(new Smaps.Mapping(0x1000, 0x2000, 5, 4096, 0, 0)), Smaps.parse(lines));
    }

    @Test
    void thisProcessIsRead() throws IOException {
        var lines = Files.readAllLines(Path.of("/proc/self/smaps"), StandardCharsets.ISO_8859_1);
        long heads = lines.stream().filter(line -> line.matches("[0-9a-f]+-[0-9a-f]+ .*")).count();
        assertEquals(heads, Smaps.parse(lines).size());
    }

    @Test
    void nothingHasNoMappings() {
        assertEquals(List.of(), Smaps.parse(List.of()));
    }
}
