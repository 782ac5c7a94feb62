import static java.util.concurrent.TimeUnit.SECONDS;

import coppice.base.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A [BareServer] or [BareEngine] in a JVM of its own with the options of the server's.
///
/// @param port where it answers
record BareHttp(Process process, int port) implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// @param main its class
    /// @param head of an answer of the server: it sends the same headers
    static BareHttp start(Program program, String main, String head) throws Exception {
        int port = Program.freePort();
        var arguments = new ArrayList<>(List.of(Integer.toString(port)));
        arguments.addAll(headers(head));
        var process =
                new ProcessBuilder(program.java(main, arguments))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(program.log().toFile()))
                        .start();
        var floor = new BareHttp(process, port);
        var deadline = Deadline.in(PATIENCE);
        while (!floor.answers()) {
            if (!process.isAlive() || deadline.isPast()) {
                floor.close();
                throw new IOException("the bare server did not start");
            }
            Thread.sleep(Duration.ofMillis(20));
        }
        return floor;
    }

    /// Names and values by turns, without those that a server makes itself.
    private static List<String> headers(String head) {
        var headers = new ArrayList<String>();
        head.lines()
                .skip(1)
                .filter(line -> line.contains(":"))
                .filter(line -> !line.toLowerCase(Locale.ROOT).matches("(content-length|date):.*"))
                .forEach(
                        line -> {
                            headers.add(line.substring(0, line.indexOf(':')));
                            headers.add(line.substring(line.indexOf(':') + 1).strip());
                        });
        return headers;
    }

    private boolean answers() {
        try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return true;
        } catch (IOException e) {
            return false; // not yet
        }
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().completeOnTimeout(process, PATIENCE.toSeconds(), SECONDS).join();
        process.destroyForcibly().onExit().join();
    }
}
