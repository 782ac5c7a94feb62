import java.io.IOException;

/// How long a typed byte takes to come back.
final class TerminalBench {
    private static final int WARM_UPS = 20;
    private static final int LETTERS = 26;

    /// As a shell that edits its line: the terminal echoes nothing and hands over each byte, the program answers.
    private static final String COMMAND = "stty%20raw%20-echo%3B%20echo%20ready%3B%20exec%20cat";

    private final Api api;
    private final Report report;
    private final Sample sample;

    TerminalBench(Api api, Report report, Sample sample) {
        this.api = api;
        this.report = report;
        this.sample = sample;
    }

    void run(int echoes) throws Exception {
        var vm = api.createVm(sample.image());
        var pair = new Pair();
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            try (var port = BarePort.open(floor, "exec cat");
                    var terminal = api.terminal(vm, COMMAND)) {
                terminal.expect("ready");
                for (int i = -WARM_UPS; i < echoes; i++) {
                    int letter = 'a' + Math.floorMod(i, LETTERS);
                    (i < 0 ? new Pair() : pair)
                            .measure(
                                    () -> {
                                        terminal.type(letter);
                                        require(letter, terminal.read());
                                    },
                                    () -> {
                                        port.type(letter);
                                        require(letter, port.read());
                                    });
                }
            }
        }
        api.delete("/v5/vms/" + vm);
        report.times(sample.subject("terminal", ""), pair.server, pair.floor);
    }

    private static void require(int typed, int echo) throws IOException {
        if (echo != typed) {
            throw new IOException("the echo of %c is %c".formatted(typed, echo));
        }
    }
}
