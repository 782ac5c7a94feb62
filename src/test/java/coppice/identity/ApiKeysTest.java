package coppice.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.store.Store;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeysTest {
    @TempDir private Path directory;
    private Store store;
    private ApiKeys keys;
    private AccountId ada;
    private AccountId bob;

    @BeforeEach
    void open() {
        store = Store.open(directory.resolve("test.db"));
        var accounts = new Accounts(store, Clock.systemUTC());
        ada = accounts.create(new Slug("ada"), "Ada").id();
        bob = accounts.create(new Slug("bob"), "Bob").id();
        keys = new ApiKeys(store, Clock.systemUTC());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void aKeyHasTheFormOfTheContractAndItsFirstPartIsItsId() {
        var made = keys.create(ada, "laptop");
        var text = made.bearer().reveal();
        assertTrue(text.matches("[a-z0-9]{20}-[A-Za-z0-9]{43}"), "form of a key");
        assertEquals(text.substring(0, text.indexOf('-')), made.key().id().text());
        assertFalse(made.toString().contains(text.substring(21)), "the secret shows in toString");
    }

    @Test
    void aKeyStandsForItsAccount() {
        var ofAda = keys.create(ada, "laptop");
        var ofBob = keys.create(bob, "laptop");
        assertEquals(Optional.of(Caller.of(ada)), keys.authenticate(ofAda.bearer().reveal()));
        assertEquals(Optional.of(Caller.of(bob)), keys.authenticate(ofBob.bearer().reveal()));
    }

    @Test
    void theStoreKeepsOnlyTheHashOfTheSecret() throws Exception {
        var secret = keys.create(ada, "laptop").bearer().reveal().substring(21);
        var stored =
                store.read(
                        handle ->
                                handle.createQuery("select secret_hash from api_keys")
                                        .mapTo(String.class)
                                        .one());
        var digest =
                MessageDigest.getInstance("SHA-256")
                        .digest(secret.getBytes(StandardCharsets.UTF_8));
        assertEquals(HexFormat.of().formatHex(digest), stored);
    }

    @Test
    void aWrongSecretOrTheSecretOfAnotherKeyIsRefused() {
        var one = keys.create(ada, "one").bearer().reveal();
        var two = keys.create(ada, "two").bearer().reveal();
        assertEquals(Optional.empty(), keys.authenticate(one.substring(0, 21) + two.substring(21)));
        assertEquals(Optional.empty(), keys.authenticate(one.substring(0, 21) + "A".repeat(43)));
        assertEquals(Optional.empty(), keys.authenticate("a".repeat(20) + one.substring(20)));
    }

    @Test
    void aRevokedKeyIsRefusedAtOnceAlsoWhenAnotherProcessRevokesIt() {
        var made = keys.create(ada, "laptop");
        var other = keys.create(ada, "phone");
        assertTrue(keys.authenticate(made.bearer().reveal()).isPresent());
        try (var elsewhere = Store.open(directory.resolve("test.db"))) {
            new ApiKeys(elsewhere, Clock.systemUTC()).revoke(ada, made.key().id());
        }
        assertEquals(Optional.empty(), keys.authenticate(made.bearer().reveal()));
        assertTrue(keys.authenticate(other.bearer().reveal()).isPresent());
    }

    @Test
    void revokingTwiceKeepsTheFirstMomentAndAnotherAccountsKeyIsAbsent() {
        var made = keys.create(ada, "laptop");
        var refused = assertThrows(Failure.class, () -> keys.revoke(bob, made.key().id()));
        assertEquals(Code.NOT_FOUND, refused.code());
        assertTrue(keys.authenticate(made.bearer().reveal()).isPresent());
        keys.revoke(ada, made.key().id());
        var first = keys.list(ada);
        keys.revoke(ada, made.key().id());
        assertEquals(first, keys.list(ada));
        assertTrue(first.getFirst().revokedAt().isPresent());
    }

    @Test
    void aListHoldsTheKeysOfOneAccount() {
        var one = keys.create(ada, "one").key();
        var two = keys.create(ada, "two").key();
        keys.create(bob, "three");
        assertEquals(
                List.of(one.id().text(), two.id().text()).stream().sorted().toList(), ids(ada));
        assertEquals(1, keys.list(bob).size());
    }

    @Test
    void thereIsNoKeyForAnUnknownAccountNorBeyondTheLimit() {
        var absent = assertThrows(Failure.class, () -> keys.create(AccountId.random(), "x"));
        assertEquals(Code.NOT_FOUND, absent.code());
        var first = keys.create(ada, "first").key();
        for (var i = 1; i < 100; i++) {
            keys.create(ada, "key " + i);
        }
        var full = assertThrows(Failure.class, () -> keys.create(ada, "one more"));
        assertEquals(Code.CONFLICT, full.code());
        keys.revoke(ada, first.id());
        keys.create(ada, "one more");
    }

    @Test
    void malformedTextIsNoCallerWhateverItIs() {
        var good = keys.create(ada, "laptop").bearer().reveal();
        var seed = new Random().nextLong();
        var random = new Random(seed);
        Stream.of(
                        "",
                        "-",
                        good + "\n",
                        " " + good,
                        good.replace('-', '_'),
                        good.toUpperCase() + "é")
                .forEach(text -> assertEquals(Optional.empty(), keys.authenticate(text)));
        for (var i = 0; i < 2000; i++) {
            var text = damaged(good, random);
            assertEquals(Optional.empty(), keys.authenticate(text), "seed " + seed + ": " + text);
        }
    }

    @Test
    void aKeyIdFromOutsideIsParsedOrABadRequest() {
        var id = keys.create(ada, "laptop").key().id();
        assertEquals(id, ApiKeyId.parse("key", id.text()));
        var refused = assertThrows(Failure.class, () -> ApiKeyId.parse("key", "../x"));
        assertEquals(Code.BAD_REQUEST, refused.code());
    }

    private List<String> ids(AccountId account) {
        return keys.list(account).stream().map(key -> key.id().text()).sorted().toList();
    }

    /// Never the text itself: one character is replaced by another, removed or put in, or the text is cut.
    private static String damaged(String text, Random random) {
        var at = random.nextInt(text.length());
        var rest = text.substring(at + 1);
        var other = (char) (random.nextBoolean() ? random.nextInt(128) : random.nextInt(0x10000));
        return switch (random.nextInt(4)) {
            case 0 -> text.substring(0, at) + (other == text.charAt(at) ? "." : other) + rest;
            case 1 -> text.substring(0, at) + rest;
            case 2 -> text.substring(0, at) + other + text.substring(at);
            default -> text.substring(0, at);
        };
    }
}
