import java.util.ArrayList;
import java.util.List;

/// What should not have come of a call: how often, and what the first ones were.
final class Errors {
    private static final int TOLD = 5;

    private final List<String> first = new ArrayList<>();
    private long count;

    void add(String text) {
        count++;
        if (first.size() < TOLD) {
            first.add(text);
        }
    }

    long count() {
        return count;
    }

    List<String> first() {
        return List.copyOf(first);
    }
}
