package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackupTest {
    private static final int ROWS = 100_000;

    @TempDir private Path directory;
    private Store store;

    @BeforeEach
    void openWithRows() {
        store = Store.open(directory.resolve("test.db"));
        store.change(
                handle -> {
                    handle.execute("create table numbers (n bigint not null)");
                    handle.execute(
                            """
                            with recursive count(n) as (select 1 union all select n + 1 from count where n < ?)
                            insert into numbers select n from count
                            """,
                            ROWS);
                });
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void aBackupMadeInUseIsAWholeDatabaseThatOnlyItsOwnerMayRead() throws Exception {
        var target = directory.resolve("backup.db");
        store.backup(target);
        store.change(handle -> handle.execute("delete from numbers"));
        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(target)));
        try (var copy = Store.open(target)) {
            var rows =
                    copy.read(
                            handle ->
                                    handle.createQuery("select count(*) from numbers")
                                            .mapTo(Integer.class)
                                            .one());
            assertEquals(ROWS, rows);
        }
    }

    @Test
    void anExistingFileIsNotOverwritten() throws Exception {
        var target = Files.writeString(directory.resolve("backup.db"), "precious");
        var refused = assertThrows(Failure.class, () -> store.backup(target));
        assertEquals(Code.CONFLICT, refused.code());
        assertEquals("precious", Files.readString(target));
    }

    @Test
    void aBackupWhoseTimeIsOverStopsAndLeavesNothing() {
        var target = directory.resolve("backup.db");
        var source = Sqlite.source(directory.resolve("test.db"), StoreLimits.USUAL);
        assertThrows(
                Exception.class, () -> Backup.make(source, target, Deadline.in(Duration.ZERO)));
        assertFalse(Files.exists(target));
        assertFalse(Files.exists(directory.resolve("backup.db.partial")));
    }
}
