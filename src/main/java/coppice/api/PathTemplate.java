package coppice.api;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// A path with parameters: `/vms/{vm}/start`.
public record PathTemplate(List<Segment> segments) {

    sealed interface Segment {}

    record Literal(String text) implements Segment {}

    record Parameter(String name, Width width) implements Segment {}

    /// How many raw segments the value of a parameter may come as.
    enum Width {
        ONE,
        /// Or two: `svc/ubuntu` for `svc%2Fubuntu`.
        ONE_OR_TWO,
        /// All that are left, empty ones too. Only the last segment may be so.
        REST
    }

    public PathTemplate {
        segments = List.copyOf(segments);
    }

    static PathTemplate parse(String template) {
        if (!template.matches("(/([a-zA-Z0-9._-]+|\\{[a-zA-Z0-9_]+}))+")) {
            throw new IllegalArgumentException("not a path template: " + template);
        }
        var segments = new ArrayList<Segment>();
        for (var text : template.substring(1).split("/")) {
            segments.add(
                    text.startsWith("{")
                            ? new Parameter(text.substring(1, text.length() - 1), Width.ONE)
                            : new Literal(text));
        }
        return new PathTemplate(segments);
    }

    PathTemplate with(String name, Width width) {
        return new PathTemplate(
                segments.stream()
                        .map(
                                segment ->
                                        segment.equals(new Parameter(name, Width.ONE))
                                                ? new Parameter(name, width)
                                                : segment)
                        .toList());
    }

    PathTemplate under(String prefix) {
        return prefix.isEmpty() ? this : parse(prefix).followedBy(this);
    }

    private PathTemplate followedBy(PathTemplate rest) {
        var all = new ArrayList<>(segments);
        all.addAll(rest.segments);
        return new PathTemplate(all);
    }

    List<String> parameters() {
        return segments.stream()
                .mapMulti(
                        (Segment segment, Consumer<String> names) -> {
                            if (segment instanceof Parameter parameter) {
                                names.accept(parameter.name());
                            }
                        })
                .toList();
    }

    /// This template, and the ones in which a parameter takes two segments: there it stands twice.
    List<PathTemplate> forms() {
        List<PathTemplate> forms = List.of(new PathTemplate(List.of()));
        for (var segment : segments) {
            var longer = new ArrayList<PathTemplate>();
            for (var form : forms) {
                longer.add(form.followedBy(new PathTemplate(List.of(segment))));
                if (segment instanceof Parameter(_, var width) && width == Width.ONE_OR_TWO) {
                    longer.add(form.followedBy(new PathTemplate(List.of(segment, segment))));
                }
            }
            forms = longer;
        }
        return forms;
    }

    /// The parameters' values, decoded, out of the raw segments of a path that has this form.
    Map<String, String> values(List<String> raw) {
        var values = new LinkedHashMap<String, String>();
        for (int i = 0; i < segments.size(); i++) {
            if (segments.get(i) instanceof Parameter(var name, var width)) {
                var own = width == Width.REST ? rest(raw, i) : raw.get(i);
                var value =
                        PercentCode.isPlain(own)
                                ? own
                                : PercentCode.decode(own, "the path's {%s}".formatted(name));
                values.merge(name, value, (first, second) -> first + "/" + second);
            }
        }
        return values;
    }

    /// Of a slash alone the segments are empty: it stands at the end, where it makes no difference elsewhere.
    private static String rest(List<String> raw, int from) {
        var rest = String.join("/", raw.subList(from, raw.size()));
        return rest.isEmpty() ? "/" : rest;
    }

    @Override
    public String toString() {
        return segments.stream()
                .map(
                        segment ->
                                switch (segment) {
                                    case Literal(String text) -> "/" + text;
                                    case Parameter(String name, _) -> "/{" + name + "}";
                                })
                .collect(Collectors.joining());
    }
}
