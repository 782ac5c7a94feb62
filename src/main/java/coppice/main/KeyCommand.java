package coppice.main;

import coppice.base.Slug;
import coppice.identity.ApiKey;
import coppice.identity.ApiKeyId;
import coppice.identity.User;
import coppice.identity.UserId;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// API keys. The API has no way to make them with a key: a key must not create keys. Who signs in makes them by the calls of sign-in.
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
        AccountRecords.use(
                records -> {
                    var owner = records.ensure(Slug.parse("--account", account)).id();
                    var made = records.keys().create(owner, name);
                    records.audit(Optional.of(owner), "key create", made.key().id().text());
                    System.out.println(made.bearer().reveal());
                });
        return 0;
    }

    @Command(
            description = "List the keys of an account, and who made them after signing in.",
            mixinStandardHelpOptions = true)
    int list() {
        AccountRecords.use(
                records -> {
                    var emails =
                            records.users().list().stream()
                                    .collect(Collectors.toMap(User::id, it -> it.email().text()));
                    records.keys()
                            .list(records.require(account).id())
                            .forEach(key -> System.out.println(line(key, emails)));
                });
        return 0;
    }

    private static String line(ApiKey key, Map<UserId, String> emails) {
        return "%s  %s  %s  %s%s"
                .formatted(
                        key.id(),
                        key.createdAt(),
                        key.revokedAt().map(at -> "revoked " + at).orElse("active"),
                        key.name(),
                        key.maker()
                                .map(id -> emails.getOrDefault(id, "deleted user " + id))
                                .map("  (made by %s)"::formatted)
                                .orElse(""));
    }

    @Command(
            description = "Revoke a key: it stops working at once.",
            mixinStandardHelpOptions = true)
    int revoke(
            @Parameters(paramLabel = "KEY-ID", description = "The part before the dash.")
                    String id) {
        AccountRecords.use(
                records -> {
                    var owner = records.require(account).id();
                    records.keys().revoke(owner, ApiKeyId.parse("KEY-ID", id));
                    records.audit(Optional.of(owner), "key revoke", id);
                });
        return 0;
    }
}
