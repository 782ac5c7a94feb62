package coppice.main;

import coppice.base.Slug;
import coppice.identity.Account;
import coppice.identity.Accounts;
import coppice.identity.ApiKeyId;
import coppice.identity.ApiKeys;
import coppice.store.Store;
import java.time.Clock;
import java.util.function.BiConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// API keys. The public API has no way to make them: a key must not create keys.
@Command(
        name = "key",
        description = "Make, list and revoke API keys.",
        mixinStandardHelpOptions = true)
final class KeyCommand {
    @Option(
            names = "--account",
            description =
                    "The account's slug (default: ${DEFAULT-VALUE}). 'create' makes it when there"
                            + " is none.",
            defaultValue = "main",
            scope = picocli.CommandLine.ScopeType.INHERIT)
    private String account = "main";

    @Command(
            description = "Make a key and print it. It is shown this once.",
            mixinStandardHelpOptions = true)
    int create(
            @Option(names = "--name", description = "What it is for.", defaultValue = "key")
                    String name) {
        with(
                (accounts, keys) -> {
                    var slug = Slug.parse("--account", account);
                    var owner = accounts.find(slug).orElseGet(() -> accounts.create(slug, account));
                    System.out.println(keys.create(owner.id(), name).bearer().reveal());
                });
        return 0;
    }

    @Command(description = "List the keys of an account.", mixinStandardHelpOptions = true)
    int list() {
        with(
                (accounts, keys) ->
                        keys.list(owner(accounts).id())
                                .forEach(
                                        key ->
                                                System.out.printf(
                                                        "%s  %s  %s  %s%n",
                                                        key.id(),
                                                        key.createdAt(),
                                                        key.revokedAt()
                                                                .map(at -> "revoked " + at)
                                                                .orElse("active"),
                                                        key.name())));
        return 0;
    }

    @Command(
            description = "Revoke a key: it stops working at once.",
            mixinStandardHelpOptions = true)
    int revoke(
            @Parameters(paramLabel = "KEY-ID", description = "The part before the dash.")
                    String id) {
        with((accounts, keys) -> keys.revoke(owner(accounts).id(), new ApiKeyId(id)));
        return 0;
    }

    private Account owner(Accounts accounts) {
        return accounts.find(Slug.parse("--account", account))
                .orElseThrow(
                        () ->
                                new coppice.base.Failure(
                                        coppice.base.Code.NOT_FOUND,
                                        "no account %s".formatted(account)));
    }

    private static void with(BiConsumer<Accounts, ApiKeys> work) {
        try (var store =
                Store.open(DataLock.directory(Environment.settings()).resolve("coppice.db"))) {
            work.accept(
                    new Accounts(store, Clock.systemUTC(), Environment.settings().brand()),
                    new ApiKeys(store, Clock.systemUTC()));
        }
    }
}
