package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A call of an operation.
///
/// @param sent the names in it
record IsolationCall(
        PublishedOperation operation,
        String target,
        Map<String, String> headers,
        byte[] body,
        List<IsolationName> sent) {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String NO_SNAPSHOT = "sh-00000000000000000000";
    private static final Pattern PARAMETER = Pattern.compile("\\{([A-Za-z_]+)}");

    /// A call that names something in a place.
    ///
    /// @param others what it names in other places where it has to, by the kinds of things
    static IsolationCall of(
            PublishedDocument document,
            IsolationPlace place,
            IsolationName name,
            Function<IsolationPlace, IsolationName> others) {
        return new Making(document, place.operation(), others).with(place, name);
    }

    /// A call with what it has to have.
    static IsolationCall of(
            PublishedDocument document,
            PublishedOperation operation,
            Function<IsolationPlace, IsolationName> others) {
        return new Making(document, operation, others).call();
    }

    IsolationCall with(String header, String value) {
        var more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new IsolationCall(operation, target, more, body, sent);
    }

    /// The same with another query, unless that is empty.
    IsolationCall asking(String query) {
        return query.isEmpty()
                ? this
                : new IsolationCall(operation, target + "?" + query, headers, body, sent);
    }

    @Override
    public String toString() {
        return "%s %s %s %s"
                .formatted(operation.method(), target, headers, new String(body, UTF_8));
    }

    private static final class Making {
        private final PublishedDocument document;
        private final PublishedOperation operation;
        private final Function<IsolationPlace, IsolationName> others;
        private final List<IsolationName> sent = new ArrayList<>();
        private final Map<String, IsolationName> named = new LinkedHashMap<>();
        private final Map<String, String> headers = new LinkedHashMap<>();

        private Making(
                PublishedDocument document,
                PublishedOperation operation,
                Function<IsolationPlace, IsolationName> others) {
            this.document = document;
            this.operation = operation;
            this.others = others;
        }

        private IsolationCall with(IsolationPlace place, IsolationName name) {
            sent.add(name);
            switch (place.in()) {
                case PATH, QUERY -> named.put(place.in() + place.at(), name);
                case HEADER -> headers.put(place.at(), name.text());
                case BODY -> {}
            }
            var json = bodies();
            if (place.in() == IsolationPlace.In.BODY) {
                return made(json.with(place.at(), value(place, name)));
            }
            return place.kind() == IsolationKind.ONCE ? made(cheap(json)) : call();
        }

        /// A create that makes no VM, which would take long.
        private JsonNode cheap(IsolationBody json) {
            return operation.id().matches("(create|legacyCreate)Vm(Unversioned)?")
                    ? json.with("snapshotId", JSON.createObjectNode().stringNode(NO_SNAPSHOT))
                    : json.plain();
        }

        private IsolationCall call() {
            return made(operation.takesJson() ? bodies().plain() : JSON.nullNode());
        }

        private IsolationBody bodies() {
            var vm =
                    new IsolationPlace(operation, IsolationPlace.In.BODY, "vmId", IsolationKind.VM);
            return new IsolationBody(document, operation, others.apply(vm).text());
        }

        private static JsonNode value(IsolationPlace place, IsolationName name) {
            var value = JSON.createObjectNode();
            return place.kind() == IsolationKind.LABEL
                    ? value.put(name.text().split(":")[0], name.text().split(":")[1])
                    : value.stringNode(name.text());
        }

        private IsolationCall made(JsonNode json) {
            var path =
                    PARAMETER
                            .matcher(operation.path())
                            .replaceAll(it -> name(IsolationPlace.In.PATH, it.group(1)));
            var body =
                    operation.takesJson()
                            ? json.toString()
                            : operation.text().has("requestBody") ? "abc" : "";
            return new IsolationCall(
                    operation, path + query(), headers, body.getBytes(UTF_8), List.copyOf(sent));
        }

        private String query() {
            var query = new ArrayList<String>();
            for (var parameter : operation.text().path("parameters")) {
                var name = parameter.path("name").asString("");
                boolean isAsked = named.containsKey(IsolationPlace.In.QUERY + name);
                if (parameter.path("in").asString("").equals("query")) {
                    if (isAsked || name.equals("path")) {
                        query.add(name + "=" + name(IsolationPlace.In.QUERY, name));
                    } else if (name.equals("offset") && operation.method().equals("PUT")) {
                        query.add("offset=0");
                    }
                }
            }
            return query.isEmpty() ? "" : "?" + String.join("&", query);
        }

        private String name(IsolationPlace.In in, String parameter) {
            var given = named.get(in + parameter);
            if (given == null) {
                given = others.apply(IsolationPlace.parameter(operation, in, parameter));
                sent.add(given);
            }
            return URLEncoder.encode(given.text(), UTF_8);
        }
    }
}
