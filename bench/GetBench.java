import java.io.IOException;
import java.util.List;

/// How many times in a second one VM can be read, and how long each takes, by few connections and by many.
final class GetBench {
    private static final List<Integer> CONNECTIONS = List.of(1, 16, 64);

    /// What is asked before it is somebody else's turn.
    private static final int ROUND = 1000;

    private static final int WARM_UPS = 3 * ROUND;

    /// The second compiler of the JVM takes what has been called 50,000 times.
    private static final int FIRST_WARM_UPS = 60 * ROUND;

    private static final String TARGET = "rate >= 0.6 x floor";

    private final Report report;
    private final Api api;
    private final int floorPort;
    private final int enginePort;

    /// What came of the rounds of one of the three.
    private static final class Rounds {
        final Stats times = new Stats();
        final Stats rates = new Stats();
        final Stats clientNanos = new Stats();

        void add(Chorus.Round round) {
            times.addAll(round.times());
            rates.add(round.perSecond());
            clientNanos.add(round.clientNanos());
        }
    }

    GetBench(Report report, Api api, int floorPort, int enginePort) {
        this.report = report;
        this.api = api;
        this.floorPort = floorPort;
        this.enginePort = enginePort;
    }

    /// @param count of requests by each number of connections
    void run(String path, int count) throws Exception {
        var answer = answer(api.port(), path);
        var constant = "/" + answer.length();
        for (int port : List.of(floorPort, enginePort)) {
            requireSame(answer, answer(port, constant));
        }
        for (int port : List.of(api.port(), floorPort, enginePort)) {
            var asked = port == api.port() ? path : constant;
            try (var chorus = new Chorus(port, 16, api.reading(asked))) {
                chorus.round(FIRST_WARM_UPS);
            }
        }
        for (int connections : CONNECTIONS) {
            try (var server = new Chorus(api.port(), connections, api.reading(path));
                    var floor = new Chorus(floorPort, connections, api.reading(constant));
                    var engine = new Chorus(enginePort, connections, api.reading(constant))) {
                run(connections, count, server, floor, engine);
            }
        }
    }

    private Line answer(int port, String path) throws IOException {
        try (var board = new Switchboard(port)) {
            return board.askAlone(board.open(), api.reading(path));
        }
    }

    private static void requireSame(Line server, Line bare) {
        if (server.head().length() != bare.head().length() || server.length() != bare.length()) {
            throw new IllegalStateException(
                    "the floor answers otherwise than the server:\n%s%s"
                            .formatted(server.head(), bare.head()));
        }
    }

    private void run(int connections, int count, Chorus server, Chorus floor, Chorus engine)
            throws Exception {
        int round = Math.min(ROUND, count);
        for (var chorus : List.of(server, floor, engine)) {
            chorus.round(WARM_UPS);
        }
        var ours = new Rounds();
        var bare = new Rounds();
        var between = new Rounds();
        var turns = new Pair();
        while (ours.times.count() < count) {
            turns.inTurn(() -> ours.add(server.round(round)), () -> bare.add(floor.round(round)));
            between.add(engine.round(round));
        }
        tell("api-get-" + connections, TARGET, ours, bare);
        tell("api-http-" + connections, "", between, bare);
        report.note(
                "%d connections: a call costs the client %.0f us of one processor, so it can make no more than %.0f/s"
                        .formatted(
                                connections,
                                bare.clientNanos.median() / 1e3,
                                1e9 / bare.clientNanos.median()));
    }

    private void tell(String name, String target, Rounds ours, Rounds bare) throws IOException {
        report.times(subject(name, ""), ours.times, bare.times);
        report.rates(subject(name + "-rate", target), Report.Rate.CALLS, ours.rates, bare.rates);
    }

    private static Report.Subject subject(String name, String target) {
        return new Report.Subject(name, "-", 0, 0, target);
    }
}
