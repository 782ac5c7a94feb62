package coppice.main;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.disk.Reflink;
import coppice.disk.VolumeSpace;
import coppice.identity.Account;
import coppice.identity.Accounts;
import coppice.json.Json;
import coppice.store.Store;
import coppice.vm.Usage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Tells what VMs and snapshots really take. Reads the store, /proc and the files; the server may run or not.
@Command(
        name = "usage",
        description = {
            "Show what VMs and snapshots take of memory and disk, in MiB.",
            "Own is what nothing else has; shared is counted with each that has it."
        },
        mixinStandardHelpOptions = true)
final class UsageCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Option(names = "--account", paramLabel = "NAME", description = "Only of this account.")
    private Optional<String> account = Optional.empty();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean isJson;

    @Override
    public Integer call() {
        var settings = Environment.settings();
        var data = settings.dataDirectory();
        var volume = data.resolve("volume");
        if (!Files.exists(data.resolve("coppice.db"))
                || !Files.isDirectory(volume.resolve("vms"))) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "%s is not prepared or not mounted; run './coppice up'".formatted(volume));
        }
        try (var reflink = new Reflink();
                var store = Store.open(data.resolve("coppice.db"))) {
            var accounts = new Accounts(store, Clock.systemUTC(), settings.brand());
            var only = account.map(name -> named(accounts, name).id());
            try (var usage = new Usage(store, accounts, volume, reflink)) {
                var report =
                        new UsageReport(
                                usage.read(only, Deadline.in(PATIENCE)),
                                VolumeSpace.of(volume),
                                settings.capacity().diskReserve());
                System.out.print(
                        isJson
                                ? new String(Json.pretty(report.json()), StandardCharsets.UTF_8)
                                : report.text());
            }
        }
        return 0;
    }

    private static Account named(Accounts accounts, String name) {
        return accounts.find(Slug.parse("--account", name))
                .orElseThrow(() -> new Failure(Code.NOT_FOUND, "no account %s".formatted(name)));
    }
}
