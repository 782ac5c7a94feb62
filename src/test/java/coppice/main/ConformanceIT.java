package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Deadline;
import coppice.disk.Published;
import coppice.process.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// The published clients, unmodified, against a server that speaks their brand word: the scripts of `conformance/`, each a test.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConformanceIT {
    private static final Path SCRIPTS = Path.of("conformance").toAbsolutePath();
    private static final String BRAND = "freestyle";
    private static final Duration INSTALLATION = Duration.ofMinutes(5);
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int LEAST_NODE_OF_THE_PROGRAM = 20;

    @AutoClose private Installation installation;
    private Path packages;

    @BeforeAll
    void start() throws IOException {
        installation =
                Installation.start(
                        Map.of("COPPICE_API_BRAND", BRAND, "COPPICE_IMAGES", "busybox,debian"));
        packages = packages();
    }

    @Test
    void theNewerLibraryWorksUnmodifiedAndWhatItCallsInVainIsListed() {
        run("new-sdk.mjs");
    }

    @Test
    void theOlderLibraryWorksUnmodified() {
        run("old-sdk.mjs");
    }

    @Test
    void theCommandLinesWorkUnmodified() {
        requireNodeOfTheProgram();
        run("command-line.mjs");
    }

    @Test
    void theCommandLineSignsInUnmodified() {
        requireNodeOfTheProgram();
        var email = "sign-in@example.org";
        var password = installation.program("user", "create", email, "--account", "main");
        installation.program("key", "create", "--account", "second");
        installation.program("team", "add", email, "--account", "second");
        run("sign-in.mjs", "COPPICE_EMAIL=" + email, "COPPICE_PASSWORD=" + password.strip());
    }

    private static void requireNodeOfTheProgram() {
        var version = Command.of("node", "--version").runOrFail(soon()).strip();
        int major = Integer.parseInt(version.replaceAll("v(\\d+)\\..*", "$1"));
        assumeTrue(
                major >= LEAST_NODE_OF_THE_PROGRAM,
                "the command line of the package needs Node %d, this is %s"
                        .formatted(LEAST_NODE_OF_THE_PROGRAM, version));
    }

    /// @param more variables of its environment
    private void run(String script, String... more) {
        var line = new ArrayList<>(List.of("env"));
        line.add("COPPICE_URL=http://%s:%d".formatted(installation.address(), installation.port()));
        line.add("COPPICE_KEY=" + key());
        line.add("COPPICE_CONFORMANCE_PACKAGES=" + packages);
        line.addAll(List.of(more));
        line.addAll(List.of("node", SCRIPTS.resolve(script).toString()));
        var outcome = new Command(line).run(Deadline.in(PATIENCE));
        assertEquals(
                0,
                outcome.status(),
                () -> "%s\nthe server:\n%s".formatted(outcome.output(), installation.logTail()));
        // What is known to fail is to be read in the log of the test.
        System.out.println(script + "\n" + outcome.output());
    }

    private String key() {
        return installation.program("key", "create", "--account", "main").strip();
    }

    /// Where the packages are installed: in the cache, under the hash of what names their versions.
    private static Path packages() throws IOException {
        var wanted = SCRIPTS.resolve("package.json");
        var cache = Environment.settings().cacheDirectory().resolve("conformance");
        var place = cache.resolve(hash(Files.readAllBytes(wanted)));
        if (!Files.isDirectory(place)) {
            var unfinished = Published.unfinished(place);
            Published.delete(unfinished);
            Files.createDirectories(unfinished);
            Files.copy(wanted, unfinished.resolve("package.json"));
            install(unfinished);
            Published.directory(unfinished, place);
        }
        return place;
    }

    private static void install(Path directory) {
        Command.of(
                        "npm",
                        "install",
                        "--prefix",
                        directory.toString(),
                        "--no-package-lock",
                        "--ignore-scripts",
                        "--no-audit",
                        "--no-fund")
                .runOrFail(Deadline.in(INSTALLATION));
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes))
                    .substring(0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Deadline soon() {
        return Deadline.in(Duration.ofSeconds(30));
    }
}
