import static java.util.concurrent.TimeUnit.SECONDS;

import coppice.base.Deadline;
import coppice.process.Command;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The program that is measured, in the data directory that `bench/run` made and removes; its server, and a client with a key.
final class Program implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BUILD = Duration.ofMinutes(40);

    /// How much of a generation of the heap is used, in KiB. The line of the metaspace has no total.
    private static final Pattern GENERATION = Pattern.compile("total \\d+K, used (\\d+)K");

    private final List<String> words;
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final Path data = Path.of(System.getenv("COPPICE_DATA_DIRECTORY"));
    private final int port;
    private Optional<Process> server = Optional.empty();

    /// @param words that run the program
    Program(List<String> words) throws IOException {
        this.words = List.copyOf(words);
        this.port = freePort();
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    Path data() {
        return data;
    }

    /// Where the files of VMs and snapshots are.
    Path volume() {
        return data.resolve("volume");
    }

    Path log() {
        return data.resolve("server.log");
    }

    /// Configures what is run from now on.
    ///
    /// @param variable a setting, as a variable of the environment
    void set(String variable, String value) {
        settings.put(variable, value);
    }

    /// Has so many VMs kept ready, if the program can do that.
    ///
    /// @return whether it can
    boolean setPool(int size) {
        boolean canPool =
                new Command(line("setting", "pool.size")).run(Deadline.in(PATIENCE)).status() == 0;
        if (canPool) {
            set("COPPICE_POOL_SIZE", Integer.toString(size));
        }
        return canPool;
    }

    /// What runs the program with these arguments.
    private List<String> line(String... arguments) {
        var line = new ArrayList<>(List.of("env"));
        settings.forEach((variable, value) -> line.add(variable + "=" + value));
        line.addAll(words);
        line.addAll(List.of(arguments));
        return line;
    }

    /// Has the guest images made that are not in the cache: that takes what is fetched from elsewhere.
    void buildImages(List<String> images) {
        var line = new ArrayList<>(Namespace.MACHINE.inside(line("image", "build")));
        line.addAll(images);
        System.out.print(new Command(line).runOrFail(Deadline.in(BUILD)));
    }

    /// A client with a new key.
    Api client() {
        return client("main");
    }

    /// @param account of which it is; made when there is none
    Api client(String account) {
        // What the program logs comes before it.
        var output =
                new Command(line("key", "create", "--account", account))
                        .runOrFail(Deadline.in(PATIENCE));
        return new Api(port, output.lines().toList().getLast().strip());
    }

    /// Starts the server and returns when it answers.
    void start() throws IOException, InterruptedException {
        var builder =
                new ProcessBuilder(line("serve"))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
        builder.environment().put("COPPICE_HTTP_PORT", Integer.toString(port));
        var process = builder.start();
        server = Optional.of(process);
        var deadline = Deadline.in(PATIENCE);
        while (!answers()) {
            if (!process.isAlive() || deadline.isPast()) {
                throw new IOException("the server did not start");
            }
            Thread.sleep(2);
        }
    }

    private boolean answers() {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5000);
            socket.getOutputStream()
                    .write(
                            "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII));
            var status =
                    new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            return status.equals("HTTP/1.1 200");
        } catch (IOException e) {
            return false; // not yet
        }
    }

    /// The memory of the server's process that is in RAM, in MiB.
    long residentMib() throws IOException {
        var status = Path.of("/proc", Long.toString(server.orElseThrow().pid()), "status");
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
                .findFirst()
                .orElseThrow();
    }

    boolean isRunning() {
        return server.filter(Process::isAlive).isPresent();
    }

    /// What the server's heap holds when it has just been collected, in MiB.
    long heapMib() {
        jcmd("GC.run");
        return jcmd("GC.heap_info")
                        .lines()
                        .map(GENERATION::matcher)
                        .filter(Matcher::find)
                        .mapToLong(generation -> Long.parseLong(generation.group(1)))
                        .sum()
                / 1024;
    }

    private String jcmd(String command) {
        var jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        var pid = Long.toString(server.orElseThrow().pid());
        return new Command(List.of(jcmd, pid, command)).runOrFail(Deadline.in(PATIENCE));
    }

    /// A JVM with the options of the program that does nothing.
    List<String> emptyProgram() {
        return java(System.getProperty("java.class.path").split(":")[0], "Hello");
    }

    /// A JVM with the options of the program that runs a program of the bench, which may use the server's libraries.
    List<String> java(String main, List<String> arguments) {
        var line = java(System.getProperty("java.class.path"), main);
        line.addAll(arguments);
        return line;
    }

    /// Without the AOT cache, which is of the program's own classes.
    private List<String> java(String classPath, String main) {
        var line = new ArrayList<String>();
        for (var word : words) {
            if (word.equals("-jar") || word.equals("-cp")) {
                break;
            }
            if (!word.startsWith("-XX:AOTCache=")) {
                line.add(word);
            }
        }
        line.addAll(List.of("-cp", classPath, main));
        return line;
    }

    /// Ends the server; its VMs go on.
    void stop() {
        server.ifPresent(
                process -> {
                    process.destroy();
                    process.onExit()
                            .completeOnTimeout(process, PATIENCE.toSeconds(), SECONDS)
                            .join();
                    process.destroyForcibly().onExit().join();
                });
        server = Optional.empty();
    }

    @Override
    public void close() {
        stop();
    }
}
