package coppice.main;

import coppice.json.Json;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;

/// What an account has, by all of its names, and by what it can be told from anything else.
final class IsolationThings {
    private static final Pattern ID =
            Pattern.compile(
                    "(?<=(vm|sh|vpc|tun|fw|up|bg)-)[a-z0-9]{20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final int SHORT = 5;
    private static final int WORD = 7;

    private final Random random;
    private final String root;
    private final Map<IsolationKind, Set<IsolationName>> names = new EnumMap<>(IsolationKind.class);
    private final Map<IsolationKind, IsolationName> spares = new EnumMap<>(IsolationKind.class);
    private final Set<String> marks = new LinkedHashSet<>();
    private final Set<String> known = new HashSet<>();

    IsolationThings(Random random) {
        this.random = random;
        this.root = letters();
        marks.add(root);
    }

    /// A name that begins with this.
    IsolationName name(String prefix) {
        var core = root + letters();
        return new IsolationName(prefix + core, core);
    }

    private String letters() {
        var letters = new StringBuilder();
        for (int i = 0; i < WORD; i++) {
            letters.append((char) random.nextInt('g', 'z' + 1));
        }
        return letters.toString();
    }

    /// None of them is zero.
    String digits(int count) {
        var digits = new StringBuilder();
        for (int i = 0; i < count; i++) {
            digits.append(random.nextInt(1, 10));
        }
        return digits.toString();
    }

    IsolationName put(IsolationKind kind, IsolationName... added) {
        names.computeIfAbsent(kind, _ -> new LinkedHashSet<>()).addAll(List.of(added));
        for (var name : added) {
            mark(name.core());
        }
        return added[0];
    }

    /// Of a thing that may be changed, and has no slug.
    void spare(IsolationKind kind, String id) {
        spares.put(kind, IsolationName.ofId(id));
        mark(spares.get(kind).core());
    }

    Optional<IsolationName> spare(IsolationKind kind) {
        return Optional.ofNullable(spares.get(kind));
    }

    boolean isSpare(String id) {
        return spares.values().stream().anyMatch(spare -> spare.text().equals(id));
    }

    IsolationName[] all(IsolationKind kind) {
        var all = names.getOrDefault(kind, Set.of());
        if (all.isEmpty()) {
            throw new AssertionError("there is nothing of the kind " + kind);
        }
        return all.toArray(IsolationName[]::new);
    }

    /// Notes text that must be seen by nobody else.
    void mark(String... texts) {
        for (var text : texts) {
            if (text.length() > SHORT) {
                marks.add(text);
            }
        }
    }

    /// Notes all ids in an answer.
    JsonObject noted(JsonObject answer) {
        note(new String(Json.write(answer), StandardCharsets.UTF_8));
        return answer;
    }

    void note(String answer) {
        ID.matcher(answer).results().forEach(id -> marks.add(id.group()));
    }

    /// Notes that this is known to everybody.
    void publish(String answer) {
        ID.matcher(answer).results().forEach(id -> known.add(id.group()));
    }

    /// What of this is in the text.
    List<String> in(String text) {
        var found = new ArrayList<String>();
        for (var mark : marks) {
            if (text.contains(mark) && !known.contains(mark)) {
                found.add(mark);
            }
        }
        return found;
    }
}
