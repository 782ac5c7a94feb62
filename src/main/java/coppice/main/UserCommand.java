package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.base.Slug;
import coppice.identity.Email;
import coppice.identity.PasswordHash;
import coppice.identity.Passwords;
import coppice.identity.Role;
import coppice.identity.User;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The people who sign in.
@Command(
        name = "user",
        description = "Make, list and delete the people who sign in.",
        mixinStandardHelpOptions = true)
final class UserCommand {
    private static final String ASK =
            "Read the password from the terminal, or one line from standard input. Otherwise a"
                    + " random one is made and printed, this once.";

    @Command(
            description = "Make a user that acts as an account, and print its password.",
            mixinStandardHelpOptions = true)
    int create(
            @Parameters(paramLabel = "EMAIL", description = "By which it signs in.") String email,
            @Option(names = "--name", paramLabel = "NAME", description = "How people call it.")
                    Optional<String> name,
            @Option(
                            names = "--account",
                            paramLabel = "ACCOUNT",
                            description =
                                    "The slug of the account (default: ${DEFAULT-VALUE}), which is"
                                            + " made when there is none.",
                            defaultValue = "main")
                    String account,
            @Option(
                            names = "--role",
                            paramLabel = "ROLE",
                            description = "owner or member (default: ${DEFAULT-VALUE}).",
                            defaultValue = "owner")
                    String role,
            @Option(names = "--ask-password", description = ASK) boolean ask) {
        var as = Role.parse("--role", role);
        var slug = Slug.parse("--account", account);
        var address = Email.parse("EMAIL", email);
        var password = password(ask);
        var hash = PasswordHash.of(password);
        AccountRecords.use(
                records -> {
                    var user = records.users().create(address, name, hash);
                    var owner = records.ensure(slug).id();
                    records.teams().join(user.id(), owner, as);
                    records.audit(Optional.of(owner), "user create", address.text());
                });
        show(ask, password);
        return 0;
    }

    @Command(description = "List all users.", mixinStandardHelpOptions = true)
    int list() {
        AccountRecords.use(
                records ->
                        records.users()
                                .list()
                                .forEach(user -> System.out.println(UserCommand.line(user))));
        return 0;
    }

    private static String line(User user) {
        return "%s  %s  %s%s"
                .formatted(
                        user.id(),
                        user.createdAt(),
                        user.email(),
                        user.name().map(it -> "  (%s)".formatted(it)).orElse(""));
    }

    @Command(
            description = "Give a user another password and end its sign-ins, at once.",
            mixinStandardHelpOptions = true)
    int password(
            @Parameters(paramLabel = "EMAIL", description = "Of the user.") String email,
            @Option(names = "--ask-password", description = ASK) boolean ask) {
        var address = Email.parse("EMAIL", email);
        AccountRecords.use(
                records -> {
                    var user = records.users().require(address);
                    var password = password(ask);
                    records.users().setPassword(user.id(), PasswordHash.of(password));
                    records.audit(Optional.empty(), "user password", address.text());
                    show(ask, password);
                });
        return 0;
    }

    @Command(
            description = {
                "Delete a user: its sign-ins end at once.",
                "API keys that it made belong to their accounts and go on working; they are listed."
            },
            mixinStandardHelpOptions = true)
    int delete(@Parameters(paramLabel = "EMAIL", description = "Of the user.") String email) {
        var address = Email.parse("EMAIL", email);
        AccountRecords.use(
                records -> {
                    var user = records.users().require(address);
                    var teams = records.teams().of(user.id());
                    records.users().delete(user.id());
                    records.audit(Optional.empty(), "user delete", address.text());
                    for (var team : teams) {
                        var account = team.account();
                        TeamCommand.warn(
                                TeamCommand.keysOf(records, user.id(), account.id()),
                                account.slug().text());
                    }
                });
        return 0;
    }

    private static void show(boolean wasAsked, Secret password) {
        if (!wasAsked) {
            System.out.println(password.reveal());
        }
    }

    private static Secret password(boolean ask) {
        if (!ask) {
            return Passwords.random();
        }
        var console = System.console();
        return Passwords.parse(
                console != null && console.isTerminal()
                        ? Optional.ofNullable(console.readPassword("Password: "))
                                .map(String::new)
                                .orElse("")
                        : line());
    }

    private static String line() {
        try {
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            return Optional.ofNullable(in.readLine()).orElse("");
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "standard input cannot be read", e);
        }
    }
}
