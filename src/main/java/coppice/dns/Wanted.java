package coppice.dns;

import java.util.Comparator;

/// What is asked upstream. Queries that are alike in this have the same answer. Ordered, so that a map of them stays fast when somebody
/// asks for names with equal hash codes.
///
/// @param signed whether it should carry what DNSSEC is checked with
/// @param unchecked whether upstream should give what it found false, too
record Wanted(Question question, boolean signed, boolean unchecked) implements Comparable<Wanted> {
    private static final Comparator<Wanted> ORDER =
            Comparator.comparing((Wanted wanted) -> wanted.question().name())
                    .thenComparing(wanted -> wanted.question().type())
                    .thenComparing(Wanted::signed)
                    .thenComparing(Wanted::unchecked);

    /// Of the class IN: no other is asked upstream.
    static Wanted by(Query query) {
        return new Wanted(
                query.question(),
                query.wantsSignatures(),
                query.head().has(Head.CHECKING_DISABLED));
    }

    @Override
    public int compareTo(Wanted other) {
        return ORDER.compare(this, other);
    }
}
