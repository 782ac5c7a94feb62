package coppice.fabric;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A set of addresses of one family, as ranges in order that do not touch each other.
record Ranges(List<Range> all) {
    static final Ranges NONE = new Ranges(List.of());
    static final Ranges ALL_V4 = of(Cidr.stored("0.0.0.0/0"));
    static final Ranges ALL_V6 = of(Cidr.stored("::/0"));

    private static final int MOST_SPELLED = 256;

    record Range(IpAddress first, IpAddress last) {}

    Ranges {
        all = List.copyOf(all);
    }

    static Ranges all(boolean isV6) {
        return isV6 ? ALL_V6 : ALL_V4;
    }

    static Ranges of(Cidr cidr) {
        return new Ranges(List.of(new Range(cidr.first(), cidr.last())));
    }

    static Ranges of(Collection<Cidr> cidrs) {
        return joined(cidrs.stream().map(cidr -> new Range(cidr.first(), cidr.last())));
    }

    static Ranges ofAddresses(Stream<IpAddress> addresses) {
        return joined(addresses.map(address -> new Range(address, address)));
    }

    private static Ranges joined(Stream<Range> ranges) {
        var joined = new ArrayList<Range>();
        ranges.sorted(Comparator.comparing(Range::first))
                .forEach(
                        range -> {
                            var last = joined.isEmpty() ? null : joined.getLast();
                            if (last == null || !touches(last, range)) {
                                joined.add(range);
                            } else if (range.last().compareTo(last.last()) > 0) {
                                joined.set(
                                        joined.size() - 1, new Range(last.first(), range.last()));
                            }
                        });
        return new Ranges(joined);
    }

    /// Whether a range that does not begin before `earlier` begins in it or right behind it.
    private static boolean touches(Range earlier, Range range) {
        return range.first().compareTo(earlier.last()) <= 0
                || range.first().previous().equals(earlier.last());
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    Ranges plus(Ranges other) {
        return joined(Stream.concat(all.stream(), other.all.stream()));
    }

    Ranges and(Ranges other) {
        var both = new ArrayList<Range>();
        for (var a : all) {
            for (var b : other.all) {
                var first = max(a.first(), b.first());
                var last = a.last().compareTo(b.last()) < 0 ? a.last() : b.last();
                if (first.compareTo(last) <= 0) {
                    both.add(new Range(first, last));
                }
            }
        }
        return joined(both.stream());
    }

    private static IpAddress max(IpAddress a, IpAddress b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    Ranges minus(Ranges other) {
        var left = all;
        for (var hole : other.all) {
            left = left.stream().flatMap(range -> without(range, hole)).toList();
        }
        return new Ranges(left);
    }

    private static Stream<Range> without(Range range, Range hole) {
        if (hole.last().compareTo(range.first()) < 0 || hole.first().compareTo(range.last()) > 0) {
            return Stream.of(range);
        }
        var left = new ArrayList<Range>();
        if (hole.first().compareTo(range.first()) > 0) {
            left.add(new Range(range.first(), hole.first().previous()));
        }
        if (hole.last().compareTo(range.last()) < 0) {
            left.add(new Range(hole.last().plus(1), range.last()));
        }
        return left.stream();
    }

    boolean contains(IpAddress address) {
        return all.stream()
                .anyMatch(
                        range ->
                                range.first().compareTo(address) <= 0
                                        && range.last().compareTo(address) >= 0);
    }

    /// As elements of a set of nftables, each address for itself unless they are many. The kernel has those in place with the rules that
    /// name them, but several ranges only some time after them, and lets nothing pass meanwhile.
    String spelled() {
        return all.size() == 1
                ? toString()
                : addresses()
                        .map(all -> all.stream().map(IpAddress::toString))
                        .map(texts -> texts.collect(Collectors.joining(", ")))
                        .orElseGet(this::toString);
    }

    /// Absent: too many.
    private Optional<List<IpAddress>> addresses() {
        var addresses = new ArrayList<IpAddress>();
        for (var range : all) {
            addresses.add(range.first());
            while (!addresses.getLast().equals(range.last())) {
                addresses.add(addresses.getLast().plus(1));
                if (addresses.size() > MOST_SPELLED) {
                    return Optional.empty();
                }
            }
        }
        return Optional.of(addresses);
    }

    /// Each as an element of a set of nftables.
    Stream<String> each() {
        return all.stream()
                .map(
                        range ->
                                range.first().equals(range.last())
                                        ? range.first().toString()
                                        : range.first() + "-" + range.last());
    }

    /// As elements of a set of nftables.
    @Override
    public String toString() {
        return each().collect(Collectors.joining(", "));
    }
}
