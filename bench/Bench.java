import coppice.disk.Reflink;
import java.util.ArrayList;
import java.util.List;

/// The entry: `bench/run` starts it in a data directory of its own and removes what is left.
final class Bench {
    private static final int RUNS = 50;
    private static final int CROWD_RUNS = 20;
    private static final int FILE_RUNS = 10;
    private static final int ECHOES = 300;
    private static final int BOOTS = 10;
    private static final int STARTS = 5;

    private final Wanted wanted;
    private final Report report;

    private Bench(Wanted wanted, Report report) {
        this.wanted = wanted;
        this.report = report;
    }

    /// @param arguments what to measure, then `--`, then the words that run the program
    public static void main(String[] arguments) throws Exception {
        var words = List.of(arguments);
        int end = words.indexOf("--");
        try {
            var wanted = Wanted.parse(words.subList(0, end));
            var report = new Report(Machine.find(), wanted.json());
            new Bench(wanted, report).run(words.subList(end + 1, words.size()));
            if (!report.end()) {
                System.exit(1); // tidy: this is a main program
            }
        } catch (IllegalArgumentException e) {
            System.err.println("bench: " + e.getMessage() + "; see ./coppice bench --help");
            System.exit(2); // tidy: this is a main program
        }
    }

    private void run(List<String> programWords) throws Exception {
        report.begin();
        try (var program = new Program(programWords)) {
            program.setPool(0); // else a create would be measured that starts nothing
            if (wanted.hasAny(Wanted.OF_VMS) || wanted.has(Wanted.SERVER)) {
                program.buildImages(imagesNeeded());
                program.start();
                vms(program);
                server(program);
            }
            if (wanted.hasAny(Wanted.OF_NETWORK)) {
                new NetworkGroup(program, report, wanted).run();
            }
            if (wanted.hasAny(Wanted.OF_CAPTURE)) {
                new CaptureGroup(program, report, wanted).run();
            }
            if (wanted.hasAny(Wanted.OF_API)) {
                new ApiGroup(program, report, wanted).run();
            }
        }
    }

    private void vms(Program program) throws Exception {
        if (wanted.hasAny(Wanted.OF_VMS)) {
            try (var api = program.client();
                    var reflink = new Reflink()) {
                for (var image : wanted.images()) {
                    var sample = Sample.take(program.volume(), api, reflink, "svc/" + image);
                    measure(new VmBenches(api, report, sample));
                    measureTraffic(api, sample);
                }
            }
        }
    }

    private void server(Program program) throws Exception {
        if (wanted.has(Wanted.SERVER)) {
            var server = new ServerBench(program, report);
            server.start(wanted.runs().orElse(STARTS));
            server.memory();
        }
    }

    /// The server's memory is measured with VMs of the small one.
    private List<String> imagesNeeded() {
        var images = new ArrayList<>(wanted.images());
        if (wanted.has(Wanted.SERVER) && !images.contains("busybox")) {
            images.add("busybox");
        }
        return images;
    }

    private void measure(VmBenches vms) throws Exception {
        if (wanted.has("exec")) {
            vms.exec(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("create")) {
            vms.create(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("pause") || wanted.has("resume")) {
            vms.pauseAndResume(wanted.runs().orElse(RUNS));
        }
        if (wanted.has("boot")) {
            vms.boot(wanted.runs().orElse(BOOTS));
        }
    }

    private void measureTraffic(Api api, Sample sample) throws Exception {
        if (wanted.has("exec-many")) {
            new CrowdBenches(api, report, sample).run(wanted.runs().orElse(CROWD_RUNS));
        }
        if (wanted.has("files")) {
            new FileBenches(api, report, sample)
                    .run(wanted.runs().orElse(FILE_RUNS), wanted.size());
        }
        if (wanted.has("terminal")) {
            new TerminalBench(api, report, sample).run(wanted.runs().orElse(ECHOES));
        }
    }
}
