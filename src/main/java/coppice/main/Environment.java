package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import java.nio.file.Path;
import java.util.Optional;

/// What the `coppice` script tells the program.
final class Environment {

    private Environment() {}

    static Settings settings() {
        var settings = Settings.read(System.getenv());
        settings.check();
        return settings;
    }

    /// The project's directory.
    static Path home() {
        return Optional.ofNullable(System.getenv("COPPICE_HOME"))
                .map(Path::of)
                .orElseThrow(
                        () ->
                                new Failure(
                                        Code.BAD_REQUEST,
                                        "COPPICE_HOME is not set; use the ./coppice script"));
    }
}
