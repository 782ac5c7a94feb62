package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.json.Schema;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The declared query parameters of a call, checked against their types. Others are ignored; empty values count as absent.
public final class Query {
    private final List<QueryParameter> declared;
    private final Map<String, String> values;

    private Query(List<QueryParameter> declared, Map<String, String> values) {
        this.declared = declared;
        this.values = values;
    }

    static Query parse(String raw, List<QueryParameter> declared) {
        if (raw.isEmpty()) {
            return new Query(declared, Map.of());
        }
        var values = new HashMap<String, String>();
        for (var pair : raw.split("&")) {
            int equals = pair.indexOf('=');
            var name = decode(equals < 0 ? pair : pair.substring(0, equals), "the query");
            if (equals < 0 || declared.stream().noneMatch(p -> p.name().equals(name))) {
                continue;
            }
            var value = decode(pair.substring(equals + 1), "the query value of " + name);
            if (!value.isEmpty() && values.put(name, value) != null) {
                throw bad(name, "is given more than once; give it once");
            }
        }
        var query = new Query(declared, Map.copyOf(values));
        declared.forEach(query::check);
        return query;
    }

    public Optional<String> text(String name) {
        if (declared.stream().noneMatch(parameter -> parameter.name().equals(name))) {
            throw new IllegalArgumentException("the route does not declare " + name);
        }
        return Optional.ofNullable(values.get(name));
    }

    /// Numbers of more than 64 bits are lowered to the largest of 64 bits.
    public Optional<Long> integer(String name) {
        return text(name)
                .map(
                        value -> {
                            if (!value.matches("[0-9]+")) {
                                throw bad(name, "must be an integer of 0 or more, in decimal");
                            }
                            try {
                                return Long.parseLong(value);
                            } catch (NumberFormatException _) {
                                return Long.MAX_VALUE;
                            }
                        });
    }

    public Optional<Boolean> bool(String name) {
        return text(name)
                .map(
                        value ->
                                switch (value) {
                                    case "true" -> true;
                                    case "false" -> false;
                                    default -> throw bad(name, "must be true or false");
                                });
    }

    private void check(QueryParameter parameter) {
        switch (parameter.type()) {
            case Schema.Whole _ -> integer(parameter.name());
            case Schema.Truth _ -> bool(parameter.name());
            case Schema.Text text -> checkWord(parameter.name(), text);
            default -> {}
        }
    }

    private void checkWord(String name, Schema.Text type) {
        if (type.keywords().get("enum") instanceof List<?> words
                && values.containsKey(name)
                && !words.contains(values.get(name))) {
            var known = String.join(", ", words.stream().map(String::valueOf).toList());
            throw bad(name, "must be one of " + known);
        }
    }

    private static String decode(String text, String what) {
        return PercentCode.decode(text.replace('+', ' '), what);
    }

    private static Failure bad(String name, String problem) {
        return new Failure(Code.BAD_REQUEST, "query parameter %s %s".formatted(name, problem));
    }
}
