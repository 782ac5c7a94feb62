package coppice.api;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// The route table: finds the operation for a raw path.
///
/// Literal segments win over parameters, a parameter takes no empty segment unless it takes all that are left, and one `/` at the end makes
/// no difference.
final class Routes {
    private final List<Served> all;
    private final Node root = new Node();

    /// A place in the tree of segments. `here` is filled when paths end here.
    private static final class Node {
        final Map<String, Node> literals = new HashMap<>();
        Optional<Node> parameter = Optional.empty();
        Optional<Node> rest = Optional.empty();
        final Map<Method, Leaf> here = new EnumMap<>(Method.class);
    }

    private record Leaf(Served served, PathTemplate form) {}

    sealed interface Match {
        record Found(Served served, PathTemplate form, List<String> segments) implements Match {
            Map<String, String> pathValues() {
                return form.values(segments);
            }
        }

        record WrongMethod(Family family, String allowed) implements Match {}

        record Unknown() implements Match {}
    }

    Routes(List<Route> routes) {
        this.all =
                routes.stream()
                        .flatMap(route -> route.families().stream().map(f -> Served.of(route, f)))
                        .toList();
        var ids = new HashSet<String>();
        for (var served : all) {
            if (!ids.add(served.operationId())) {
                throw new IllegalArgumentException("two operations " + served.operationId());
            }
            served.template().forms().forEach(form -> add(served, form));
        }
    }

    /// By the name of the operation.
    Optional<Served> named(String operationId) {
        return all.stream().filter(it -> it.operationId().equals(operationId)).findFirst();
    }

    List<Served> all() {
        return all;
    }

    /// `path` is raw and without the base URL's prefix.
    Match match(String method, String path) {
        var segments = segments(path);
        var node = segments.flatMap(list -> find(root, list, 0));
        if (node.isEmpty()) {
            return new Match.Unknown();
        }
        var here = node.get().here;
        return method(method)
                .map(here::get)
                .<Match>map(leaf -> new Match.Found(leaf.served, leaf.form, segments.get()))
                .orElseGet(() -> wrongMethod(here));
    }

    /// The family of the route at this path, whatever the method.
    Optional<Family> family(String path) {
        return segments(path)
                .flatMap(list -> find(root, list, 0))
                .map(node -> node.here.values().iterator().next().served.family());
    }

    private void add(Served served, PathTemplate form) {
        var node = root;
        for (var segment : form.segments()) {
            node =
                    switch (segment) {
                        case PathTemplate.Literal(String text) ->
                                node.literals.computeIfAbsent(text, _ -> new Node());
                        case PathTemplate.Parameter(_, var width)
                                when width == PathTemplate.Width.REST -> {
                            if (node.rest.isEmpty()) {
                                node.rest = Optional.of(new Node());
                            }
                            yield node.rest.get();
                        }
                        case PathTemplate.Parameter _ -> {
                            if (node.parameter.isEmpty()) {
                                node.parameter = Optional.of(new Node());
                            }
                            yield node.parameter.get();
                        }
                    };
        }
        if (node.here.put(served.route().method(), new Leaf(served, form)) != null) {
            throw new IllegalArgumentException(
                    "two routes for %s %s".formatted(served.route().method(), form));
        }
    }

    private static Optional<Node> find(Node node, List<String> segments, int depth) {
        if (depth == segments.size()) {
            return Optional.of(node).filter(end -> !end.here.isEmpty());
        }
        var segment = segments.get(depth);
        return Optional.ofNullable(node.literals.get(segment))
                .flatMap(next -> find(next, segments, depth + 1))
                .or(
                        () ->
                                node.parameter
                                        .filter(_ -> !segment.isEmpty())
                                        .flatMap(next -> find(next, segments, depth + 1)))
                .or(() -> node.rest);
    }

    private static Match wrongMethod(Map<Method, Leaf> here) {
        var allowed =
                here.keySet().stream()
                        .map(method -> method == Method.GET ? "GET, HEAD" : method.name())
                        .collect(Collectors.joining(", "));
        return new Match.WrongMethod(here.values().iterator().next().served.family(), allowed);
    }

    private static Optional<List<String>> segments(String path) {
        if (!path.startsWith("/")) {
            return Optional.empty();
        }
        var end = path.length() > 1 && path.endsWith("/") ? path.length() - 1 : path.length();
        return Optional.of(Arrays.asList(path.substring(1, end).split("/", -1)));
    }

    private static Optional<Method> method(String name) {
        return switch (name) {
            case "GET", "HEAD" -> Optional.of(Method.GET);
            case "POST" -> Optional.of(Method.POST);
            case "PUT" -> Optional.of(Method.PUT);
            case "PATCH" -> Optional.of(Method.PATCH);
            case "DELETE" -> Optional.of(Method.DELETE);
            default -> Optional.empty();
        };
    }
}
