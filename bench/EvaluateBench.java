import coppice.base.Cidr;
import coppice.identity.AccountId;
import coppice.json.JsonObject;
import coppice.network.Firewall;
import coppice.network.Matcher;
import coppice.network.MemberId;
import coppice.network.Protocol;
import coppice.network.Rule;
import coppice.network.RuleId;
import coppice.network.Verdict;
import coppice.network.VpcId;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/// How long it takes to hear what would become of a connection, in an account with many rules.
final class EvaluateBench {
    /// What is asked before it is somebody else's turn.
    private static final int ROUND = 100;

    private static final int WARM_UPS = 20 * ROUND;
    private static final int QUESTIONS = 1000;
    private static final String PATH = "/v5/firewall/evaluate";

    private final Report report;
    private final RuleBook book;
    private final List<Question> questions = new ArrayList<>();
    private int next;

    /// @param vms that are asked about
    EvaluateBench(Report report, RuleBook book, List<ServerGuest> vms) {
        this.report = report;
        this.book = book;
        var random = new Random(1);
        for (int i = 0; i < QUESTIONS; i++) {
            questions.add(Question.random(random, book, vms));
        }
    }

    private Question next() {
        return questions.get(next++ % QUESTIONS);
    }

    /// Over one connection. The floor is the cheapest thing that it answers to who has a key: one private network.
    void overHttp(int count) throws Exception {
        var api = book.api();
        var read = "/v5/vpcs/" + book.vpcs().getFirst();
        var asking = new Crowd(1, _ -> api.post(PATH, next().json()));
        var reading = new Crowd(1, _ -> api.get(read));
        asking.round(WARM_UPS);
        reading.round(WARM_UPS);
        var times = new Pair();
        var rates = new Pair();
        while (times.server.count() < count) {
            times.inTurn(
                    () -> add(asking.round(ROUND), times.server, rates.server),
                    () -> add(reading.round(ROUND), times.floor, rates.floor));
        }
        report.times(subject("evaluate", ""), times.server, times.floor);
        report.rates(subject("evaluate-rate", ""), Report.Rate.COMMANDS, rates.server, rates.floor);
    }

    private static void add(Crowd.Round round, Stats times, Stats rates) {
        times.addAll(round.times());
        rates.add(round.perSecond());
    }

    /// The same questions to the model, in this process, which compiles as the server does. It must answer as the server does.
    void ofTheModel(int count) throws Exception {
        var rules = rules();
        for (var question : questions.subList(0, ROUND)) {
            requireSame(question, ask(rules, question));
        }
        var times = new Stats();
        for (int i = -WARM_UPS; i < count; i++) {
            var question = next();
            var time = Step.time(() -> ask(rules, question));
            if (i >= 0) {
                times.add(time);
            }
        }
        long matching =
                questions.stream()
                        .filter(q -> ask(rules, q) instanceof Verdict.AllowedByRule)
                        .count();
        report.times(subject("evaluate-model", "p99 <= 1 ms"), times);
        report.note(
                "evaluate: %d rules; %d of %d questions match one"
                        .formatted(rules.size(), matching, QUESTIONS));
    }

    private static Verdict ask(List<Rule> rules, Question question) {
        return Firewall.evaluate(
                rules, question.source(), question.destination(), question.protocol());
    }

    private void requireSame(Question question, Verdict verdict) throws IOException {
        var answer = book.api().post(PATH, question.json());
        var rule =
                verdict instanceof Verdict.AllowedByRule(var id)
                        ? Optional.of(id.text())
                        : Optional.<String>empty();
        if (!answer.string("ruleId").equals(rule)) {
            throw new IOException(
                    "%s: the server says %s, the model %s"
                            .formatted(question.json(), answer, verdict));
        }
    }

    private static Report.Subject subject(String name, String target) {
        return new Report.Subject(name, "-", 0, 0, target);
    }

    /// Oldest first, as the model has them.
    private List<Rule> rules() throws IOException {
        return book.rules().reversed().stream().map(EvaluateBench::rule).toList();
    }

    private static Rule rule(JsonObject json) {
        return new Rule(
                new RuleId(json.requiredString("id")),
                AccountId.random(),
                matcher(json.requiredObject("source")),
                matcher(json.requiredObject("destination")),
                Optional.empty(),
                Instant.parse(json.requiredString("createdAt")));
    }

    private static Matcher matcher(JsonObject json) {
        return new Matcher(
                json.string("vmId").map(MemberId::new),
                json.string("vpcId").map(VpcId::new),
                Optional.empty(),
                json.string("cidr").map(Cidr::stored),
                json.bool("public").orElse(false),
                json.integer("port").map(Long::intValue),
                json.string("protocol").flatMap(Protocol::of));
    }
}
