import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Two accounts: one that has little, and one that is filled while the other is measured.
final class RuleGroup {
    private static final String IMAGE = "svc/busybox";
    private static final int CHANGES = 30;
    private static final int QUESTIONS = 2000;

    /// VMs of the account with many rules: two in one network, each other in one of its own.
    private static final List<Integer> PLACES = List.of(0, 0, 1, 2);

    private static final String SOON = "p50 <= 50 ms";

    private final Program program;
    private final Report report;
    private final Wanted wanted;

    RuleGroup(Program program, Report report, Wanted wanted) {
        this.program = program;
        this.report = report;
        this.wanted = wanted;
    }

    void run(Outside internet) throws Exception {
        try (var few = program.client("few");
                var many = program.client("many")) {
            if (wanted.has("rule-others")) {
                others(few, many, internet);
            } else {
                ofMany(fill(many), internet);
            }
        }
    }

    /// An account of its own, before and after another one has come to much.
    private void others(Api few, Api many, Outside internet) throws Exception {
        var vpc = few.post("/v5/vpcs", "{\"cidr\":\"10.20.1.0/24\"}").requiredString("id");
        var sender = ServerGuest.create(few, IMAGE, vpc);
        try (var bench = new RuleBench(few, sender, internet)) {
            var alone = bench.run(changes());
            tell("rule-alone", "", alone, alone.addedByHand, alone.removedByHand);
            var filled = fill(many);
            var beside = bench.run(changes());
            report.note(
                    "rule-others: the floor is rule-alone, the same account while no other had anything");
            report.times(
                    subject("rule-others-passes", "as rule-alone"), beside.passed, alone.passed);
            report.times(
                    subject("rule-others-stops", "as rule-alone"), beside.stopped, alone.stopped);
            ofMany(filled, internet);
        }
        sender.delete();
    }

    private record Filled(RuleBook book, List<ServerGuest> vms) {}

    private static Filled fill(Api api) throws IOException {
        var book = RuleBook.fill(api);
        var vms = new ArrayList<ServerGuest>();
        for (int place : PLACES) {
            vms.add(ServerGuest.create(api, IMAGE, book.vpcs().get(place)));
        }
        return new Filled(book, vms);
    }

    private void ofMany(Filled account, Outside internet) throws Exception {
        if (wanted.has("rule")) {
            try (var bench =
                    new RuleBench(account.book().api(), account.vms().getFirst(), internet)) {
                var times = bench.run(changes());
                tell("rule", SOON, times, times.addedByHand, times.removedByHand);
            }
        }
        if (wanted.has("evaluate")) {
            var evaluate = new EvaluateBench(report, account.book(), account.vms());
            evaluate.overHttp(wanted.runs().orElse(QUESTIONS));
            evaluate.ofTheModel(wanted.runs().orElse(QUESTIONS));
        }
        for (var vm : account.vms()) {
            vm.delete();
        }
    }

    private void tell(String name, String target, RuleBench.Times times, Stats added, Stats removed)
            throws IOException {
        report.times(subject(name + "-create", ""), times.created, added);
        report.times(subject(name + "-passes", target), times.passed, added);
        report.times(subject(name + "-delete", ""), times.deleted, removed);
        report.times(subject(name + "-stops", target), times.stopped, removed);
    }

    private static Report.Subject subject(String name, String target) {
        return new Report.Subject(name, IMAGE, 0, 0, target);
    }

    private int changes() {
        return wanted.runs().orElse(CHANGES);
    }
}
