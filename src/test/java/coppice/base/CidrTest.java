package coppice.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CidrTest {
    private static final int ROUNDS = 20_000;

    private static IpAddress address(Random random, boolean isV6) {
        var bytes = new byte[isV6 ? 16 : 4];
        random.nextBytes(bytes);
        return IpAddress.of(bytes);
    }

    private static BigInteger number(IpAddress address) {
        return new BigInteger(1, address.bytes());
    }

    /// The network of an address, by arithmetic that knows no halves.
    private static BigInteger network(IpAddress address, int prefix) {
        int host = address.bits() - prefix;
        return number(address).shiftRight(host).shiftLeft(host);
    }

    @Test
    void aRangeIsThatOfItsNumbers() {
        var random = Seed.random(CidrTest.class);
        for (int i = 0; i < ROUNDS; i++) {
            var address = address(random, random.nextBoolean());
            int prefix = random.nextInt(address.bits() + 1);
            var range = Cidr.around(address, prefix);
            var first = network(address, prefix);
            var size = BigInteger.ONE.shiftLeft(address.bits() - prefix);
            assertEquals(first, number(range.first()));
            assertEquals(first.add(size).subtract(BigInteger.ONE), number(range.last()));
            assertEquals(range, Cidr.parse("cidr", range.toString()));
            assertTrue(range.contains(address), range::toString);
            var other = withOneBitTurned(address, random.nextInt(address.bits()));
            assertEquals(
                    network(other, prefix).equals(first),
                    range.contains(other),
                    () -> range + " and " + other);
        }
    }

    private static IpAddress withOneBitTurned(IpAddress address, int bit) {
        var bytes = address.bytes();
        bytes[bit / 8] ^= (byte) (1 << bit % 8);
        return IpAddress.of(bytes);
    }

    @Test
    void rangesOverlapWhenOneHasTheFirstAddressOfTheOther() {
        var random = Seed.random(CidrTest.class);
        for (int i = 0; i < ROUNDS; i++) {
            var address = address(random, random.nextBoolean());
            var near = withOneBitTurned(address, random.nextInt(address.bits()));
            var one = Cidr.around(address, random.nextInt(address.bits() + 1));
            var other = Cidr.around(near, random.nextInt(address.bits() + 1));
            boolean overlap =
                    number(one.first()).compareTo(number(other.last())) <= 0
                            && number(other.first()).compareTo(number(one.last())) <= 0;
            assertEquals(overlap, one.overlaps(other), () -> one + " and " + other);
            assertEquals(overlap, other.overlaps(one));
        }
    }

    @Test
    void theFamiliesHaveNothingInCommon() {
        var all = Cidr.stored("::/0");
        assertFalse(all.contains(IpAddress.stored("10.0.0.1")));
        assertFalse(all.overlaps(Cidr.stored("0.0.0.0/0")));
        assertTrue(all.contains(IpAddress.stored("::ffff:10.0.0.1")));
        assertTrue(Cidr.stored("0.0.0.0/0").contains(Cidr.stored("255.255.255.255/32")));
        assertFalse(Cidr.stored("10.0.0.0/9").contains(Cidr.stored("10.0.0.0/8")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "10.0.0.0",
                "10.0.0.0/",
                "/24",
                "10.0.0.0/x",
                "10.0.0.0/-1",
                "10.0.0.0/+8",
                "10.0.0.0/ 8",
                "10.0.0.0/8/8",
                "10.0.0.0/33",
                "10.0.0.0/255.0.0.0",
                "10.0.0/24",
                "10.0.0.256/32",
                "::/129",
                "::/1290",
                "2001:db8/32",
                "::1%lo/128",
                "example.com/24",
                "10.0.0.0/٨"
            })
    void whatIsNoRangeIsABadRequestThatNamesTheField(String text) {
        var failure = assertThrows(Failure.class, () -> Cidr.parse("a.cidr", text));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().startsWith("a.cidr: "), failure.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.77/24, 203.0.113.0/24",
        "10.1.2.3/0, 0.0.0.0/0",
        "10.0.0.1/31, 10.0.0.0/31",
        "2001:DB8:0:0:1::/64, 2001:db8::/64",
        "fd00::1/127, fd00::/127",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/65, ffff:ffff:ffff:ffff:8000::/65"
    })
    void hostBitsAreRefusedWithTheNetworkThatIsMeant(String sent, String meant) {
        var failure = assertThrows(Failure.class, () -> Cidr.parse("cidr", sent));
        assertEquals(Code.BAD_REQUEST, failure.code());
        assertTrue(failure.getMessage().endsWith(" " + meant), failure.getMessage());
        assertEquals(meant, Cidr.parse("cidr", meant).toString());
    }

    @Test
    void aRangeWithHostBitsCannotExist() {
        var address = IpAddress.stored("10.0.0.1");
        assertThrows(IllegalArgumentException.class, () -> new Cidr(address, 31));
        assertThrows(IllegalArgumentException.class, () -> new Cidr(address, 33));
        assertThrows(IllegalArgumentException.class, () -> new Cidr(address, -1));
        assertEquals("10.0.0.1/32", Cidr.of(address).toString());
    }
}
