import java.util.ArrayList;
import java.util.List;

/// Commands of many callers at once in one VM.
final class CrowdBenches {
    private static final String TRUE = "true";
    private static final List<Integer> CALLERS = List.of(16, 100);

    /// Commands for each caller before it is somebody else's turn.
    private static final int ROUND = 5;

    private final Api api;
    private final Report report;
    private final Sample sample;

    CrowdBenches(Api api, Report report, Sample sample) {
        this.api = api;
        this.report = report;
        this.sample = sample;
    }

    /// One of those that are measured in turn.
    private static final class Way {
        final Crowd crowd;
        final Stats times = new Stats();
        final Stats rates = new Stats();

        Way(int callers, Crowd.Ask ask) {
            this.crowd = new Crowd(callers, ask);
        }

        void measure(int asks) throws Exception {
            var round = crowd.round(asks);
            times.addAll(round.times());
            rates.add(round.perSecond());
        }
    }

    /// @param runs commands for each caller; more, if they are no whole rounds
    void run(int runs) throws Exception {
        var vm = api.createVm(sample.image());
        try (var floor = sample.floor()) {
            floor.make();
            floor.restore(sample.command(floor), sample.capture(), true);
            try (var port = PortCommands.open(floor, CALLERS.getLast())) {
                for (int callers : CALLERS) {
                    run(runs, vm, floor, port, callers);
                }
            }
        }
        api.delete("/v5/vms/" + vm);
    }

    private void run(int runs, String vm, Floor floor, PortCommands port, int callers)
            throws Exception {
        var connections = new ArrayList<Api>();
        for (int i = 0; i < callers; i++) {
            connections.add(api.another());
        }
        try {
            var server = new Way(callers, i -> connections.get(i).exec(vm, TRUE));
            var byAgent = new Way(callers, _ -> floor.exec(TRUE));
            var byPort = new Way(callers, port::run);
            var ways = List.of(server, byAgent, byPort);
            for (var way : ways) {
                way.crowd.round(callers * ROUND); // not counted
            }
            int perRound = Math.min(runs, ROUND);
            for (int round = 0; round * perRound < runs; round++) {
                for (int i = 0; i < ways.size(); i++) {
                    ways.get((round + i) % ways.size()).measure(callers * perRound);
                    port.settle();
                }
            }
            tell("exec-" + callers, server, byAgent);
            tell("exec-%d-bare".formatted(callers), server, byPort);
        } finally {
            for (var connection : connections) {
                connection.close();
            }
        }
    }

    private void tell(String name, Way server, Way floor) throws Exception {
        report.times(sample.subject(name, ""), server.times, floor.times);
        report.rates(
                sample.subject(name + "-rate", ""),
                Report.Rate.COMMANDS,
                server.rates,
                floor.rates);
    }
}
