package coppice.main;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Tells scripts what is configured, one value a line.
@Command(
        name = "setting",
        description = "Print values of the configuration.",
        mixinStandardHelpOptions = true)
final class SettingCommand implements Runnable {
    @Parameters(
            paramLabel = "KEY",
            arity = "1..*",
            description = "Such as http.baseUrl; docs/configuration.md lists them.")
    private List<String> keys = List.of();

    @Override
    public void run() {
        var settings = Environment.settings();
        keys.forEach(key -> System.out.println(settings.text(key)));
    }
}
