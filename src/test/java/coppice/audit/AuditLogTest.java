package coppice.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The files of the audit log.
class AuditLogTest {
    private static final UUID ADA = UUID.randomUUID();
    private static final UUID BOB = UUID.randomUUID();

    @TempDir private Path directory;

    private static AuditEntry entry(UUID account, int number) {
        return new AuditEntry(
                Instant.parse("2026-03-01T09:30:00Z"),
                Optional.of("req-" + number),
                Optional.of(account),
                Optional.empty(),
                Optional.empty(),
                Optional.of("key"),
                "createVm",
                "/v5/vms",
                OptionalInt.of(200));
    }

    private Path place() {
        return directory.resolve("audit");
    }

    private List<Integer> numbers(int count, Optional<UUID> account) {
        return AuditLog.last(place(), count, AuditLog.of(account)).stream()
                .map(line -> Integer.valueOf(line.replaceAll(".*\"req-([0-9]+)\".*", "$1")))
                .toList();
    }

    @Test
    void theLastEntriesOfAnAccountAreFoundInOrderThroughAllFilesAndTheOldestGo()
            throws IOException {
        try (var log = AuditLog.open(place(), new Size(2000), 3)) {
            for (int i = 0; i < 100; i++) {
                log.write(entry(i % 2 == 0 ? ADA : BOB, i));
            }
        }
        assertEquals(List.of(97, 98, 99), numbers(3, Optional.empty()));
        assertEquals(List.of(94, 96, 98), numbers(3, Optional.of(ADA)));
        var all = numbers(1000, Optional.empty());
        assertTrue(all.size() > 15 && all.size() < 40, all.toString());
        for (int i = 0; i < all.size(); i++) {
            assertEquals(100 - all.size() + i, all.get(i));
        }
        try (var files = Files.list(place())) {
            for (var file : files.toList()) {
                assertTrue(Files.size(file) <= 2000);
                assertEquals(
                        "rw-------",
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            }
        }
        assertEquals(3, place().toFile().list().length);
    }

    @Test
    void aLogThatIsOpenedAgainGoesOn() {
        for (int i = 0; i < 3; i++) {
            try (var log = AuditLog.usual(place())) {
                log.write(entry(ADA, i));
            }
        }
        assertEquals(List.of(0, 1, 2), numbers(10, Optional.empty()));
        assertEquals(List.of(), numbers(10, Optional.of(UUID.randomUUID())));
        assertEquals(
                List.of(),
                AuditLog.last(directory.resolve("none"), 10, AuditLog.of(Optional.empty())));
    }
}
