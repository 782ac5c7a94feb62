package coppice.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RangesTest {
    private static final int SIZE = 32;
    private static final int PREFIX = 5;
    private static final int ATTEMPTS = 20_000;

    /// Small spaces, at the ends of the addresses and across the border between the halves of an IPv6 address.
    private static final List<IpAddress> SPACES =
            Stream.of(
                            "0.0.0.0",
                            "10.0.0.224",
                            "255.255.255.224",
                            "::",
                            "2001:db8:0:0:ffff:ffff:ffff:fff0",
                            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffe0")
                    .map(IpAddress::stored)
                    .toList();

    /// A set of addresses, and which of the space are in it.
    private record Known(Ranges ranges, BitSet members) {}

    @Test
    void setsAreWhatTheirMembersSay() {
        var random = Seed.random(RangesTest.class);
        for (int n = 0; n < ATTEMPTS; n++) {
            var space = SPACES.get(random.nextInt(SPACES.size()));
            var a = any(random, space);
            var b = any(random, space);
            var plus = (BitSet) a.members().clone();
            plus.or(b.members());
            var and = (BitSet) a.members().clone();
            and.and(b.members());
            var minus = (BitSet) a.members().clone();
            minus.andNot(b.members());
            assertIs(space, plus, a.ranges().plus(b.ranges()));
            assertIs(space, and, a.ranges().and(b.ranges()));
            assertIs(space, minus, a.ranges().minus(b.ranges()));
        }
    }

    private static Known any(Random random, IpAddress space) {
        var members = new BitSet(SIZE);
        var ranges = Ranges.NONE;
        for (int i = random.nextInt(5); i > 0; i--) {
            int host = random.nextInt(PREFIX);
            int from = random.nextInt(SIZE >> host) << host;
            // The space may begin where such a range does not.
            var cidr = Cidr.around(space.plus(from), space.bits() - host);
            IntStream.range(0, SIZE)
                    .filter(at -> cidr.contains(space.plus(at)))
                    .forEach(members::set);
            ranges = ranges.plus(Ranges.of(List.of(cidr)));
        }
        return new Known(ranges, members);
    }

    private static void assertIs(IpAddress space, BitSet members, Ranges ranges) {
        for (int at = 0; at < SIZE; at++) {
            assertEquals(members.get(at), ranges.contains(space.plus(at)), ranges + " at " + at);
        }
        assertEquals(members.isEmpty(), ranges.isEmpty());
        for (int i = 1; i < ranges.all().size(); i++) {
            var gap = ranges.all().get(i - 1).last().plus(1);
            assertTrue(gap.compareTo(ranges.all().get(i).first()) < 0, ranges::toString);
        }
    }

    @Test
    void allAddressesAreOneRange() {
        for (var all : List.of(Ranges.ALL_V4, Ranges.ALL_V6)) {
            assertEquals(Ranges.NONE, all.minus(all));
            assertEquals(all, all.plus(all).and(all));
        }
        assertEquals("0.0.0.0-255.255.255.255", Ranges.ALL_V4.toString());
        assertEquals("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Ranges.ALL_V6.toString());
    }

    @Test
    void aRangeOfOneAddressIsWrittenAsTheAddress() {
        var addresses = Stream.of("10.0.0.9", "10.0.0.3", "10.0.0.2").map(IpAddress::stored);
        assertEquals("10.0.0.2-10.0.0.3, 10.0.0.9", Ranges.ofAddresses(addresses).toString());
    }
}
