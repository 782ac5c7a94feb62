package coppice.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SchemaTest {
    private static final List<String> TABLES =
            List.of(
                    "access_tokens",
                    "accounts",
                    "api_keys",
                    "attachments",
                    "background_requests",
                    "deleted_vms",
                    "firewall_rules",
                    "idempotency_keys",
                    "identities",
                    "identity_tokens",
                    "memberships",
                    "nics",
                    "sessions",
                    "sign_ins",
                    "snapshots",
                    "tunnels",
                    "uploads",
                    "users",
                    "vm_grants",
                    "vms",
                    "vpcs");

    @TempDir private Path directory;

    @Test
    void anEmptyFileGetsAllTablesAndOpeningItAgainChangesNothing() {
        var file = directory.resolve("test.db");
        try (var store = Store.open(file)) {
            assertEquals(TABLES, tables(store));
        }
        try (var store = Store.open(file)) {
            assertEquals(TABLES, tables(store));
            assertEquals(Schema.VERSION, migrations(store));
        }
    }

    @Test
    void theVersionIsTheNewestMigrationOnTheClassPath() throws Exception {
        var first = Schema.class.getResource("migrations/V1__accounts_keys_snapshots_vms.sql");
        try (Stream<Path> files = Files.list(Path.of(first.toURI()).getParent())) {
            var newest =
                    files.map(
                                    file ->
                                            Pattern.compile("V(\\d+)__.*")
                                                    .matcher(file.getFileName().toString()))
                            .filter(name -> name.matches())
                            .mapToInt(name -> Integer.parseInt(name.group(1)))
                            .max();
            assertEquals(Schema.VERSION, newest.orElseThrow());
        }
    }

    @Test
    void aDatabaseOfTheFirstVersionKeepsItsRowsAndGetsTheNewColumns() {
        var file = directory.resolve("test.db");
        Flyway.configure()
                .dataSource("jdbc:sqlite:" + file, null, null)
                .locations("classpath:coppice/store/migrations")
                .target("1")
                .load()
                .migrate();
        var before = Jdbi.create("jdbc:sqlite:" + file);
        for (var row :
                List.of(
                        "insert into accounts (id, slug, name, created_at) values ('a', 'a', 'A', 1)",
                        "insert into snapshots (id, account_id, created_at, updated_at) values ('s', 'a', 1, 1)",
                        """
                        insert into vms (id, account_id, state, state_since, shape, cpu, memory_mib, storage_mib,
                        snapshot_id, qemu_user, created_at, updated_at)
                        values ('v', 'a', 'stopped', 1, '{}', 1, 1, 1, 's', 1, 1, 1)
                        """)) {
            before.useHandle(handle -> handle.execute(row));
        }
        try (var store = Store.open(file)) {
            assertEquals(Schema.VERSION, migrations(store));
            assertEquals(
                    "[] / {\"type\":\"sticky\",\"priority\":5}",
                    text(store, "select ports || ' ' || workdir || ' ' || persistence from vms"));
            assertEquals(
                    "{\"type\":\"persistent\"}", text(store, "select persistence from snapshots"));
        }
    }

    private static String text(Store store, String query) {
        return store.read(handle -> handle.createQuery(query).mapTo(String.class).one());
    }

    @Test
    void aDatabaseOfANewerProgramIsRefused() {
        var file = directory.resolve("test.db");
        try (var store = Store.open(file)) {
            store.change(
                    handle ->
                            handle.execute(
                                    """
                                    insert into flyway_schema_history
                                    select 99, '99', 'later', type, script, checksum, installed_by, installed_on,
                                    execution_time, success from flyway_schema_history where version = '1'
                                    """));
        }
        var refused = assertThrows(Failure.class, () -> Store.open(file));
        assertTrue(
                refused.getMessage().startsWith("the database has version 99"),
                refused.getMessage());
    }

    @Test
    void manyThatOpenAnEmptyFileAtOnceAllSucceed() throws Exception {
        var file = directory.resolve("test.db");
        var opening = new ArrayList<FutureTask<Store>>();
        var callers = new Callers();
        for (var i = 0; i < 6; i++) {
            opening.add(callers.start(() -> Store.open(file)));
        }
        for (var task : opening) {
            try (var store = task.get()) {
                assertEquals(TABLES, tables(store));
                assertEquals(Schema.VERSION, migrations(store));
            }
        }
    }

    @Test
    void onlyTheOwnerMayReadTheFiles() throws Exception {
        try (var store = Store.open(directory.resolve("test.db"))) {
            store.change(handle -> handle.execute("create table t (n bigint)"));
            for (var name : List.of("test.db", "test.db-wal", "test.db-shm")) {
                assertEquals(
                        "rw-------",
                        PosixFilePermissions.toString(
                                Files.getPosixFilePermissions(directory.resolve(name))),
                        name);
            }
        }
    }

    @Test
    void aMissingDirectoryIsAFailureThatNamesIt() {
        var file = directory.resolve("absent").resolve("test.db");
        var failure = assertThrows(Failure.class, () -> Store.open(file));
        assertEquals(Code.UNAVAILABLE, failure.code());
        assertTrue(failure.getMessage().contains(file.toString()), failure.getMessage());
    }

    @Test
    void theConnectionsHaveTheSettingsThatMakeThemDurable() {
        try (var store = Store.open(directory.resolve("test.db"))) {
            assertEquals(
                    List.of("wal", "2", "1", "8000"),
                    store.write(
                            handle ->
                                    Stream.of(
                                                    "journal_mode",
                                                    "synchronous",
                                                    "foreign_keys",
                                                    "busy_timeout")
                                            .map(
                                                    name ->
                                                            handle.createQuery("pragma " + name)
                                                                    .mapTo(String.class)
                                                                    .one())
                                            .toList()));
        }
    }

    private static List<String> tables(Store store) {
        return store.read(
                handle ->
                        handle.createQuery(
                                        """
                                        select name from sqlite_master where type = 'table'
                                        and name <> 'flyway_schema_history' order by name
                                        """)
                                .mapTo(String.class)
                                .list());
    }

    private static int migrations(Store store) {
        return store.read(
                handle ->
                        handle.createQuery(
                                        "select max(cast(version as integer)) from flyway_schema_history")
                                .mapTo(Integer.class)
                                .one());
    }
}
