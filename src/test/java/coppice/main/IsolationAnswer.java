package coppice.main;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// An answer, every byte of it but when it was given and the number it was given.
///
/// @param head its headers, a line each
/// @param body its bytes as characters
record IsolationAnswer(IsolationCall call, int status, String head, String body) {
    private static final String TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,12}Z";
    private static final String ID = "(vm|sh|vpc|tun|fw|up|bg)-[a-z0-9]{20}";
    private static final String UUID_TEXT = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    private static final String TOKEN = "sit_[A-Za-z0-9]+_[A-Za-z0-9]+";
    private static final String ADDRESS = "[0-9]+(\\.[0-9]+){3}|[0-9a-f]+:[0-9a-f:]*:[0-9a-f]*";
    private static final String KEY = "[A-Za-z0-9+/]{43}=";

    static IsolationAnswer of(IsolationCall call, EveryOperationAnswer answer) {
        return new IsolationAnswer(
                call,
                answer.status(),
                head(answer.headers().map()),
                new String(answer.bytes(), ISO_8859_1));
    }

    private static String head(Map<String, List<String>> headers) {
        var lines = new TreeMap<>(headers);
        lines.remove("date");
        lines.remove("x-request-id"); // a new one for each answer
        lines.remove("x-svc-background-request-id"); // only of those that did not end at once
        return lines.entrySet().stream()
                .flatMap(line -> line.getValue().stream().map(v -> line.getKey() + ": " + v + "\n"))
                .collect(Collectors.joining());
    }

    boolean isDone() {
        return status / 100 == 2;
    }

    JsonNode json() {
        return JsonMapper.shared().readTree(body.isEmpty() ? "{}" : body);
    }

    /// All that can be seen, but with one word in place of each name that the caller has sent.
    String seen() {
        var text = status + "\n" + head + "\n" + body;
        for (var name : call.sent()) {
            text = name.hiddenIn(text);
        }
        return text;
    }

    /// The same of what was made, where what is new each time is left out: ids, times, keys and addresses.
    String seenOfNew() {
        return seen().replaceAll("content-length: [0-9]+\n", "")
                .replaceAll(TIME, "TIME")
                .replaceAll(ID, "NEW")
                .replaceAll(TOKEN, "TOKEN")
                .replaceAll(UUID_TEXT, "NEW")
                .replaceAll(KEY, "KEY")
                .replaceAll("\"cpuTimeSeconds\":[0-9.]+", "CPU")
                .replaceAll("\"endpointPort\":[0-9]+", "PORT")
                .replaceAll(ADDRESS, "ADDRESS");
    }

    @Override
    public String toString() {
        return call + "\n-> " + status + "\n" + head + "\n" + body;
    }
}
