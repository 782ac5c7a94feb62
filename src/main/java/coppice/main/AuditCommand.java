package coppice.main;

import coppice.audit.AuditLog;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.Accounts;
import coppice.store.Store;
import java.time.Clock;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Shows who did what. Reads the files; the server may run or not.
@Command(
        name = "audit",
        description = {
            "Show the calls that changed something: when, by whom, what, and how it was answered.",
            "One JSON object a line, oldest first."
        },
        mixinStandardHelpOptions = true)
final class AuditCommand implements Callable<Integer> {
    @Option(names = "--account", paramLabel = "NAME", description = "Only of this account.")
    private Optional<String> account = Optional.empty();

    @Option(
            names = "--lines",
            paramLabel = "N",
            description = "How many, at most (default: ${DEFAULT-VALUE}).",
            defaultValue = "100")
    private int lines = 100;

    @Override
    public Integer call() {
        var data = Environment.settings().dataDirectory();
        AuditLog.last(data.resolve("audit"), Math.max(1, lines), AuditLog.of(account.map(this::id)))
                .forEach(System.out::println);
        return 0;
    }

    private UUID id(String name) {
        var file = Environment.settings().dataDirectory().resolve("coppice.db");
        try (var store = Store.open(file)) {
            return new Accounts(store, Clock.systemUTC(), Environment.settings().brand())
                    .find(Slug.parse("--account", name))
                    .orElseThrow(() -> new Failure(Code.NOT_FOUND, "no account " + name))
                    .id()
                    .uuid();
        }
    }
}
