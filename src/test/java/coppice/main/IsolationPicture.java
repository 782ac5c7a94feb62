package coppice.main;

import coppice.main.PublishedOperation.Family;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// All that an account sees of itself: what every operation that reads answers about everything that it has.
///
/// @param account whose
/// @param withGone whether what it has deleted is in it, too, which calls add to that make something and are undone
record IsolationPicture(PublishedDocument document, IsolationAccount account, boolean withGone) {
    /// What changes by itself while a VM runs.
    private static final Set<String> OF_RUNNING =
            Set.of("cpuTimeSeconds", "totalRunSeconds", "lastNetworkActivity");

    private static final String GUEST = "ls -lnR /tmp /root /etc /home; md5sum /tmp/*";

    /// Answers by what was asked for.
    ///
    /// @param looked hears each of them
    Map<String, String> take(Consumer<IsolationAnswer> looked) {
        var picture = new TreeMap<String, String>();
        picture.put("guest", account.client().run(account.vm(), GUEST));
        for (var operation : document.operations()) {
            if (reads(operation)) {
                for (var call : calls(operation)) {
                    var answer = account.owner().send(call);
                    looked.accept(answer);
                    picture.put(
                            operation.id() + " " + call.target(),
                            answer.status() + "\n" + steady(answer));
                }
            }
        }
        return picture;
    }

    /// Whether it is about anything that the account has, and not an older name of another one.
    private static boolean reads(PublishedOperation operation) {
        var family = operation.family();
        return operation.method().equals("GET")
                && !operation.isUpgrade()
                && (family == Family.V5 || family == Family.LEGACY)
                && !operation.id().equals("legacyBackgroundTest");
    }

    /// Where only one thing is named, all are that there are.
    private List<IsolationCall> calls(PublishedOperation operation) {
        var places =
                IsolationPlace.of(document, operation).stream()
                        .filter(place -> place.in() == IsolationPlace.In.PATH)
                        .toList();
        if (places.size() != 1 || !operation.path().endsWith("}")) {
            var call = IsolationCall.of(document, operation, this::own);
            return Stream.of(call, call.asking(whole(operation))).distinct().toList();
        }
        return List.of(account.things().all(places.getFirst().kind())).stream()
                .map(name -> IsolationCall.of(document, places.getFirst(), name, this::own))
                .toList();
    }

    /// A query for what a list leaves out unless it is asked for.
    private String whole(PublishedOperation operation) {
        return Stream.of("includeDeleted", "includeFailed", "includeManaged")
                .filter(operation::hasQuery)
                .filter(name -> withGone || !name.equals("includeDeleted"))
                .map(name -> name + "=true")
                .collect(Collectors.joining("&"));
    }

    private IsolationName own(IsolationPlace place) {
        return account.own(place.kind());
    }

    private String steady(IsolationAnswer answer) {
        if (!answer.head().contains("application/json")) {
            return answer.head() + answer.body();
        }
        var json = answer.json();
        return forget(json) ? json.toString() : answer.head() + answer.body();
    }

    /// Whether there was anything to forget.
    private boolean forget(JsonNode json) {
        boolean forgot = false;
        if (json instanceof ObjectNode object) {
            if (object.path("state").asString("").equals("running")) {
                for (var field : OF_RUNNING) {
                    forgot |= object.remove(field) != null;
                }
            }
            if (account.things().isSpare(object.path("id").asString(""))) {
                forgot |= object.remove("updatedAt") != null; // its owner changes it meanwhile
            }
        }
        for (var child : json) {
            forgot |= forget(child);
        }
        return forgot;
    }
}
