package coppice.fabric;

import coppice.network.Rule;
import java.util.List;

/// Finds the rules of one list in another one of the same order. A rule never changes, and stays the very same.
final class Kept {
    private Kept() {}

    /// Where each is in the others; -1 if it is not there. Takes as long as the lists are, if few differ.
    static int[] positions(List<Rule> rules, List<Rule> others) {
        var positions = new int[rules.size()];
        int next = 0;
        for (int i = 0; i < positions.length; i++) {
            int found = next;
            while (found < others.size() && others.get(found) != rules.get(i)) {
                found++;
            }
            positions[i] = found < others.size() ? found : -1;
            next = found < others.size() ? found + 1 : next;
        }
        return positions;
    }
}
