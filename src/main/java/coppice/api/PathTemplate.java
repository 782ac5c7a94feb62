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

    /// `orTwo`: its value may also come as two raw segments, `svc/ubuntu` for `svc%2Fubuntu`.
    record Parameter(String name, boolean orTwo) implements Segment {}

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
                            ? new Parameter(text.substring(1, text.length() - 1), false)
                            : new Literal(text));
        }
        return new PathTemplate(segments);
    }

    PathTemplate orTwoSegments(String name) {
        return new PathTemplate(
                segments.stream()
                        .map(
                                segment ->
                                        segment.equals(new Parameter(name, false))
                                                ? new Parameter(name, true)
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
                if (segment instanceof Parameter parameter && parameter.orTwo()) {
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
            if (segments.get(i) instanceof Parameter parameter) {
                var value =
                        PercentCode.decode(
                                raw.get(i), "the path's {%s}".formatted(parameter.name()));
                values.merge(parameter.name(), value, (first, second) -> first + "/" + second);
            }
        }
        return values;
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
