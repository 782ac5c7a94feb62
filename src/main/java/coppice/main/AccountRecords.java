package coppice.main;

import coppice.audit.AuditEntry;
import coppice.audit.AuditLog;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.Account;
import coppice.identity.AccountId;
import coppice.identity.Accounts;
import coppice.identity.ApiKeys;
import coppice.identity.Teams;
import coppice.identity.Users;
import coppice.store.Store;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/// What the commands about accounts, keys, users and teams work on, for as long as one of them takes. The server may run or not.
///
/// @param data where the audit log is
record AccountRecords(Path data, Accounts accounts, ApiKeys keys, Users users, Teams teams) {

    static void use(Consumer<AccountRecords> work) {
        var settings = Environment.settings();
        var data = DataLock.directory(settings);
        var clock = Clock.systemUTC();
        try (var store = Store.open(data.resolve("coppice.db"))) {
            work.accept(
                    new AccountRecords(
                            data,
                            new Accounts(store, clock, settings.brand()),
                            new ApiKeys(store, clock),
                            new Users(store, clock),
                            new Teams(store)));
        }
    }

    /// The account with the slug that was given as `--account`; `NOT_FOUND` if there is none.
    Account require(String slug) {
        return accounts.find(Slug.parse("--account", slug))
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.NOT_FOUND,
                                        "there is no account %s; './coppice key create --account %s' makes it"
                                                .formatted(slug, slug)));
    }

    /// The same, which is made if there is none.
    Account ensure(Slug slug) {
        return accounts.find(slug).orElseGet(() -> accounts.create(slug, slug.text()));
    }

    /// Records that it was done.
    ///
    /// @param words the command
    /// @param about what or whom
    void audit(Optional<AccountId> account, String words, String about) {
        try (var log = AuditLog.beside(data.resolve("audit"))) {
            log.write(
                    AuditEntry.ofCommand(
                            Instant.now(), account.map(AccountId::uuid), words, about));
        }
    }
}
