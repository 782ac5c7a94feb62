package coppice.main;

import coppice.identity.AccountId;
import coppice.identity.ApiKey;
import coppice.identity.Email;
import coppice.identity.Role;
import coppice.identity.UserId;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;

/// Which users act as which accounts.
@Command(
        name = "team",
        description = {
            "Add, remove and list the members of accounts.",
            "Every member acts with all rights of the account; the role tells people who answers for it."
        },
        mixinStandardHelpOptions = true)
final class TeamCommand {
    @Option(
            names = "--account",
            paramLabel = "ACCOUNT",
            description = "The account's slug (default: main; of 'list' all).",
            scope = ScopeType.INHERIT)
    private Optional<String> account = Optional.empty();

    @Command(
            description = "Have a user act as an account. One who does gets the role.",
            mixinStandardHelpOptions = true)
    int add(
            @Parameters(paramLabel = "EMAIL", description = "Of the user.") String email,
            @Option(
                            names = "--role",
                            paramLabel = "ROLE",
                            description = "owner or member (default: ${DEFAULT-VALUE}).",
                            defaultValue = "member")
                    String role) {
        var as = Role.parse("--role", role);
        AccountRecords.use(
                records -> {
                    var user = records.users().require(Email.parse("EMAIL", email));
                    var owner = records.require(slug()).id();
                    records.teams().join(user.id(), owner, as);
                    records.audit(Optional.of(owner), "team add", user.email().text());
                });
        return 0;
    }

    @Command(
            description = {
                "Have a user no longer act as an account, at once.",
                "API keys that it made belong to the account and go on working; they are listed."
            },
            mixinStandardHelpOptions = true)
    int remove(@Parameters(paramLabel = "EMAIL", description = "Of the user.") String email) {
        AccountRecords.use(
                records -> {
                    var user = records.users().require(Email.parse("EMAIL", email));
                    var owner = records.require(slug()).id();
                    records.teams().leave(user.id(), owner);
                    records.audit(Optional.of(owner), "team remove", user.email().text());
                    warn(keysOf(records, user.id(), owner), slug());
                });
        return 0;
    }

    @Command(description = "List accounts with their members.", mixinStandardHelpOptions = true)
    int list() {
        AccountRecords.use(
                records -> {
                    var wanted = account.map(records::require);
                    records.teams().members().stream()
                            .filter(it -> wanted.isEmpty() || wanted.get().equals(it.account()))
                            .forEach(
                                    it ->
                                            System.out.printf(
                                                    "%s  %s  %s%n",
                                                    it.account().slug(),
                                                    it.role().word(),
                                                    it.user().email()));
                });
        return 0;
    }

    private String slug() {
        return account.orElse("main");
    }

    /// The keys of the account that the user made and that work.
    static List<ApiKey> keysOf(AccountRecords records, UserId user, AccountId account) {
        return records.keys().list(account).stream()
                .filter(key -> key.maker().equals(Optional.of(user)))
                .filter(key -> key.revokedAt().isEmpty())
                .toList();
    }

    static void warn(List<ApiKey> keys, String slug) {
        keys.forEach(
                key ->
                        System.err.printf(
                                "a key it made goes on working; './coppice key revoke --account %s %s' ends it%n",
                                slug, key.id()));
    }
}
