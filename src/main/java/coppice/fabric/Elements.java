package coppice.fabric;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The elements of a set or map of nftables, as text.
final class Elements {
    private Elements() {}

    /// An empty list of elements is a syntax error.
    static String of(Stream<String> elements) {
        var text = elements.collect(Collectors.joining(", "));
        return text.isEmpty() ? "" : "elements = { %s };".formatted(text);
    }
}
