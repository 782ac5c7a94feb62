package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmGrantsTest {
    @TempDir private Path directory;
    private Store store;
    private AccountId ada;
    private VmGrants grants;
    private String identity;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        ada = new Accounts(store, Clock.systemUTC()).create(new Slug("ada"), "Ada").id();
        grants = new VmGrants(store, Clock.systemUTC());
        identity = new Identities(store, Clock.systemUTC()).create(ada, false).id().toString();
    }

    @AfterEach
    void close() {
        store.close();
    }

    /// As when the VM is deleted between the look at it and the grant.
    @Test
    void aVmThatIsGoneCannotBeGranted() {
        var vm = "vm-" + "0".repeat(20);
        var granting =
                List.<Runnable>of(
                        () -> grants.grant(ada, identity, vm, LinuxUsers.ANY),
                        () -> grants.add(ada, identity, vm, LinuxUsers.ANY));
        for (var grant : granting) {
            var refused = assertThrows(Failure.class, grant::run);
            assertEquals(Code.NOT_FOUND, refused.code());
        }
        assertEquals(List.of(), grants.list(ada, identity));
    }
}
