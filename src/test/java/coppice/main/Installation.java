package coppice.main;

import coppice.Wait;
import coppice.base.Deadline;
import coppice.disk.DataVolume;
import coppice.disk.Published;
import coppice.process.Command;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/// A whole Coppice of its own: a data directory with its volume, and a server in a process of its own that can be killed and started
/// again, on a host of its own: a network namespace that only this test can reach. Closing it ends everything and fails when anything is
/// left.
final class Installation implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// A system property: the command line of the program, a word on each line.
    private static final String PROGRAM = "coppice.program";

    private static final int LEAST_PORT = 20_000;
    private static final int MOST_PORT = 32_000;

    private final Path data;
    private final Map<String, String> environment = new HashMap<>();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final int port;
    private final HostNamespace host;
    private Process server;

    private Installation(Path data, int port, Map<String, String> settings) {
        this.data = data;
        this.port = port;
        this.host = HostNamespace.make(port - LEAST_PORT);
        environment.put("COPPICE_HOME", home());
        environment.put("COPPICE_HTTP_ADDRESS", host.address());
        environment.put("COPPICE_DATA_DIRECTORY", data.toString());
        environment.put("COPPICE_DATA_VOLUME_SIZE", "8192");
        environment.put("COPPICE_HTTP_PORT", Integer.toString(port));
        environment.put("COPPICE_IMAGES", "busybox");
        environment.put("COPPICE_IMAGE_DEFAULT", "busybox");
        environment.put("COPPICE_NODE_DISK_RESERVE", "256");
        environment.put(
                "COPPICE_POOL_SIZE", "0"); // what a test does not ask for must not disturb it
        environment.putAll(settings);
    }

    /// Makes one and starts its server. Settings are environment variables. Without root or guest images the test is skipped, and says so.
    static Installation start(Map<String, String> settings) {
        Assumptions.assumeTrue(
                System.getProperty("user.name").equals("root"),
                "needs root, for QEMU users and the data volume");
        try {
            var data = Files.createTempDirectory(Path.of("/var/tmp"), "coppice-it-");
            var installation = new Installation(data, freePort(), settings);
            try {
                installation.startServer();
            } catch (RuntimeException | AssertionError e) {
                installation.close();
                throw e;
            }
            return installation;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static Installation start() {
        return start(Map.of());
    }

    Path data() {
        return data;
    }

    /// A client with a new key for an account of this name.
    Client client(String account) {
        return new Client(
                http, url(), program("key", "create", "--account", account).strip(), this::logTail);
    }

    /// A client that sends this as its key.
    Client clientWithKey(String key) {
        return new Client(http, url(), key, this::logTail);
    }

    private String url() {
        return "http://%s:%d".formatted(host.address(), port);
    }

    String address() {
        return host.address();
    }

    int port() {
        return port;
    }

    /// The namespaces that its server has made.
    List<String> networks() {
        return host.namespaces(DataLock.instance(data));
    }

    /// Makes one as a server that is killed leaves it.
    void makeNetwork(String name) {
        HostNamespace.make(DataLock.instance(data), name);
    }

    /// The network namespace that is this installation's host.
    String host() {
        return host.name();
    }

    /// Starts the server and waits until it answers.
    void startServer() {
        try {
            var builder =
                    new ProcessBuilder(host.inside(java("serve")))
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
            builder.environment().putAll(environment);
            server = builder.start();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        var deadline = Deadline.in(PATIENCE);
        while (!answers()) {
            if (deadline.isPast() || !server.isAlive()) {
                throw new AssertionError("the server did not start:\n" + logTail());
            }
            Wait.moment();
        }
    }

    /// The process of the server that was started last.
    long serverPid() {
        return server.pid();
    }

    /// Ends the server without giving it a chance.
    void killServer() {
        end(server.destroyForcibly());
    }

    /// Ends the server in good order.
    void stopServer() {
        server.destroy();
        end(server);
    }

    /// Runs a command of the program and returns what it printed; fails when its exit status is not 0.
    String program(String... arguments) {
        var outcome = tryProgram(arguments);
        if (outcome.status() != 0) {
            throw new AssertionError("%s: %s".formatted(List.of(arguments), outcome.output()));
        }
        return outcome.output();
    }

    Command.Outcome tryProgram(String... arguments) {
        return tryProgramReading("", arguments);
    }

    /// @param input what it reads from its standard input
    Command.Outcome tryProgramReading(String input, String... arguments) {
        var line = new ArrayList<String>(List.of("env"));
        environment.forEach((name, value) -> line.add(name + "=" + value));
        line.addAll(host.inside(java(arguments)));
        return new Command(line, input).run(Deadline.in(PATIENCE));
    }

    /// The last lines of the server's log, for the message of a test that fails.
    String logTail() {
        try {
            var lines = Files.readAllLines(log());
            var tail = lines.subList(Math.max(0, lines.size() - 60), lines.size());
            var end = server.isAlive() ? "it runs" : "it has ended: " + server.exitValue();
            return String.join("\n", tail) + "\n" + end;
        } catch (IOException e) {
            return "no log";
        }
    }

    Path log() {
        return data.resolve("server.log");
    }

    /// The program as `./coppice test` has built it, in the words of [#PROGRAM]; without that from the classes that are tested.
    private static List<String> java(String... arguments) {
        var built = System.getProperty(PROGRAM);
        var line = new ArrayList<>(built == null ? ofClasses() : built.lines().toList());
        // The servers of tests live for seconds: optimizing them would take longer than it gains.
        line.add(1, "-XX:TieredStopAtLevel=1");
        line.addAll(List.of(arguments));
        return line;
    }

    private static List<String> ofClasses() {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                classPath(),
                "coppice.main.Main");
    }

    /// The project's directory: tests run in it.
    private static String home() {
        return java.util.Optional.ofNullable(System.getenv("COPPICE_HOME"))
                .orElse(Path.of("").toAbsolutePath().toString());
    }

    /// Where this test's own classes and the program's come from, whatever started the test.
    private static String classPath() {
        return System.getProperty(
                "surefire.test.class.path",
                System.getProperty("coppice.class.path", System.getProperty("java.class.path")));
    }

    private boolean answers() {
        try {
            var request =
                    HttpRequest.newBuilder(URI.create(url() + "/status"))
                            .timeout(Duration.ofSeconds(2))
                            .build();
            return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void end(Process process) {
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the server does not end");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Below those that the kernel gives to connections, which could take it before the server does, or while it is restarted.
    private static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LEAST_PORT, MOST_PORT);
            try (var _ = new ServerSocket(port)) {
                return port;
            } catch (BindException e) {
                continue; // somebody has it
            }
        }
    }

    @Override
    public void close() {
        if (server != null) {
            server.destroyForcibly();
            end(server);
        }
        var instance = DataLock.instance(data);
        ControlGroup.names(instance).forEach(vm -> ControlGroup.of(instance, vm).delete());
        ControlGroup.forget(instance);
        host.close(instance);
        DataVolume.unmount(data);
        Published.delete(data);
    }
}
