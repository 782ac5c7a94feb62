package coppice.fabric;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

/// The segments that there are. One comes with its first port and goes with its last. Thread-safe.
final class Segments {
    private final FabricSettings settings;
    private final Map<Place, Segment> all = new ConcurrentHashMap<>();

    Segments(FabricSettings settings) {
        this.settings = settings;
    }

    /// Does something in the segment of a place, which is made if there is none.
    ///
    /// @param act whether it was done: not in a segment that has just gone
    Segment with(Place place, Predicate<Segment> act) {
        while (true) {
            var segment = all.computeIfAbsent(place, here -> new Segment(here, settings));
            if (act.test(segment)) {
                return segment;
            }
            all.remove(place, segment);
        }
    }

    /// Does something in the segment of a place, if there is one.
    ///
    /// @param act whether the segment is gone with it
    void leave(Place place, Function<Segment, Boolean> act) {
        var segment = all.get(place);
        if (segment != null && act.apply(segment)) {
            all.remove(place, segment);
        }
    }

    Collection<Place> places() {
        return all.keySet();
    }
}
