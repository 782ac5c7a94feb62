import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/// Traffic between two ends by `bench/flow.c`.
///
/// @param to an end that serves, where the other one reaches it
record Flow(End from, String to) {
    /// Where ends serve.
    static final int PORT = 7000;

    /// Where the program is in a guest.
    static final String IN_A_GUEST = "/flow";

    /// What has a guest serve, in the background.
    static final String SERVE =
            "setsid %s serve %d >/dev/null 2>&1 </dev/null &".formatted(IN_A_GUEST, PORT);

    /// The program, beside the classes of the bench.
    static Path program() {
        return Path.of(System.getProperty("java.class.path").split(":")[0], "flow");
    }

    static byte[] bytes() throws IOException {
        return Files.readAllBytes(program());
    }

    /// How many MiB pass in a second.
    double send(Duration time) throws Exception {
        return throughput("send", time);
    }

    /// How many MiB pass in a second the other way, by a connection that is opened this way.
    double receive(Duration time) throws Exception {
        return throughput("receive", time);
    }

    private double throughput(String what, Duration time) throws Exception {
        var words = ask(what, time.toMillis()).strip().split(" ");
        return Long.parseLong(words[0]) * 1e9 / Long.parseLong(words[1]) / (1 << 20);
    }

    /// The times of so many connects, one after the other.
    Stats connect(int count) throws Exception {
        var times = new Stats();
        ask("connect", count).lines().forEach(line -> times.add(Long.parseLong(line) / 1e6));
        return times;
    }

    private String ask(String what, long amount) throws Exception {
        return from.flow("%s %s %d %d".formatted(what, to, PORT, amount));
    }
}
