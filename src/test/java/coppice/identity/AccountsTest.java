package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccountsTest {
    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-03-01T09:30:00.123456Z"), ZoneOffset.UTC);

    @TempDir private Path directory;
    private Store store;
    private Accounts accounts;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        accounts = new Accounts(store, CLOCK);
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void anAccountIsFoundAgainByItsIdAndItsSlug() {
        var account = accounts.create(new Slug("ada"), "Ada Lovelace");
        assertEquals(Instant.parse("2026-03-01T09:30:00.123Z"), account.createdAt());
        assertEquals(Optional.of(account), accounts.find(account.id()));
        assertEquals(Optional.of(account), accounts.find(new Slug("ada")));
        assertEquals(Optional.empty(), accounts.find(AccountId.random()));
        assertEquals(Optional.empty(), accounts.find(new Slug("bob")));
    }

    @Test
    void aTakenSlugIsAConflictAndTheFirstAccountStays() {
        var account = accounts.create(new Slug("ada"), "Ada");
        var refused = assertThrows(Failure.class, () -> accounts.create(new Slug("ada"), "Other"));
        assertEquals(Code.CONFLICT, refused.code());
        assertEquals(Optional.of(account), accounts.find(new Slug("ada")));
    }

    @Test
    void thePlatformsAccountIsThereFromTheStartAndStaysTheSame() {
        assertEquals("svc", accounts.platform().slug().text());
        assertEquals(accounts.platform(), new Accounts(store, Clock.systemUTC()).platform());
        assertThrows(Failure.class, () -> accounts.create(new Slug("svc"), "Impostor"));
    }

    @Test
    void thePlatformsAccountIsCalledByTheBrandWordAndFoundBySvcToo() {
        var before = accounts.platform();
        var branded = new Accounts(store, Clock.systemUTC(), new Slug("acme"));
        assertEquals(before.id(), branded.platform().id());
        assertEquals("acme", branded.platform().slug().text());
        for (var word : new String[] {"acme", "svc"}) {
            assertEquals(Optional.of(branded.platform()), branded.find(new Slug(word)));
            assertThrows(Failure.class, () -> branded.create(new Slug(word), "Impostor"));
        }
        assertEquals(Optional.of(branded.platform()), branded.find(before.id()));
        var ada = branded.create(new Slug("ada"), "Ada");
        var refused =
                assertThrows(
                        Failure.class,
                        () -> new Accounts(store, Clock.systemUTC(), new Slug("ada")));
        assertEquals(Code.CONFLICT, refused.code());
        assertEquals(before, new Accounts(store, Clock.systemUTC()).platform());
        assertEquals(Optional.of(ada), branded.find(new Slug("ada")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\nb", "\u0000", "tab\t", "\u0085"})
    void aNameWithControlCharactersOrNoneAtAllIsRefused(String name) {
        var refused = assertThrows(Failure.class, () -> accounts.create(new Slug("ada"), name));
        assertEquals(Code.BAD_REQUEST, refused.code());
    }

    @Test
    void aNameHas128CharactersAtMostHoweverManyBytes() {
        accounts.create(new Slug("ada"), "🌳".repeat(128));
        assertThrows(Failure.class, () -> accounts.create(new Slug("bob"), "x".repeat(129)));
    }
}
