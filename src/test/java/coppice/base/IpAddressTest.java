package coppice.base;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import coppice.Seed;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpAddressTest {
    private static final int ROUNDS = 20_000;

    /// Zero bytes are frequent, so that there are runs of zero groups.
    private static byte[] bytes(Random random) {
        var bytes = new byte[random.nextBoolean() ? 4 : 16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (random.nextInt(3) > 0 ? 0 : random.nextInt(256));
        }
        if (bytes.length == 16 && random.nextInt(8) == 0) {
            Arrays.fill(bytes, 0, 10, (byte) 0);
            Arrays.fill(bytes, 10, 12, (byte) 0xff);
        }
        return bytes;
    }

    @Test
    void anAddressIsReadAndWrittenAsTheJdkUnderstandsIt() throws UnknownHostException {
        var random = Seed.random(IpAddressTest.class);
        for (int i = 0; i < ROUNDS; i++) {
            var bytes = bytes(random);
            var address = IpAddress.of(bytes);
            assertArrayEquals(bytes, address.bytes());
            assertEquals(Optional.of(address), IpAddress.parse(address.toString()));
            var jdk = InetAddress.getByAddress(bytes);
            assertEquals(jdk, InetAddress.getByName(address.toString()), address::toString);
            if (address.isV6() == jdk instanceof Inet6Address) {
                assertEquals(Optional.of(address), IpAddress.parse(jdk.getHostAddress()));
            }
        }
    }

    /// From the sections of RFC 5952 that say what is recommended, and RFC 4291.
    @ParameterizedTest
    @CsvSource({
        "2001:0db8:0000:0000:0001:0000:0000:0001, 2001:db8::1:0:0:1",
        "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "2001:db8::0001, 2001:db8::1",
        "2001:db8:0:0:0:0:2:1, 2001:db8::2:1",
        "2001:db8::1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
        "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
        "2001:DB8::ABCD:EF01, 2001:db8::abcd:ef01",
        "2001:db8:aaaa:bbbb:cccc:dddd:eeee:0001, 2001:db8:aaaa:bbbb:cccc:dddd:eeee:1",
        "0:0:0:0:0:0:0:0, ::",
        "0:0:0:0:0:0:0:1, ::1",
        "1:0:0:0:0:0:0:0, 1::",
        "FF01:0:0:0:0:0:0:101, ff01::101",
        "::FFFF:192.0.2.1, ::ffff:192.0.2.1",
        "::ffff:c000:0201, ::ffff:192.0.2.1",
        "64:ff9b::192.0.2.33, 64:ff9b::c000:221"
    })
    void ipv6TextIsCanonical(String sent, String canonical) {
        assertEquals(canonical, IpAddress.stored(sent).toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "localhost",
                "example.com",
                "1",
                "1.2.3",
                "1.2.3.4.5",
                "1.2.3.256",
                "01.2.3.4",
                "1.2.3.4 ",
                " 1.2.3.4",
                "1.2.3.4\n",
                "1.2.3.-4",
                "0x7f.0.0.1",
                "١.2.3.4",
                "1.2.3.4:80",
                "1.2.3.4/24",
                ":",
                ":::",
                "1::2::3",
                "1:2:3:4:5:6:7",
                "1:2:3:4:5:6:7:8:9",
                "12345::",
                "g::",
                "[::1]",
                "::1%lo",
                "::1%1",
                "::1.2.3",
                "::1.2.3.256",
                "1:2:3:4:5:6:7:1.2.3.4"
            })
    void whatIsNoAddressIsNone(String text) {
        assertEquals(Optional.empty(), IpAddress.parse(text));
    }

    @Test
    void aLongTextIsRefusedAtOnce() {
        var text = ":".repeat(1 << 20) + "x";
        assertTimeout(
                Duration.ofSeconds(1), () -> assertEquals(Optional.empty(), IpAddress.parse(text)));
        var longest = "0000:0000:0000:0000:0000:ffff:192.168.100.228";
        assertEquals("::ffff:192.168.100.228", IpAddress.stored(longest).toString());
    }

    @Test
    void addressesGoOnAcrossTheirHalvesAndBack() {
        assertEquals("10.0.1.0", IpAddress.stored("10.0.0.255").plus(1).toString());
        assertEquals(
                "1:2:3:5::", IpAddress.stored("1:2:3:4:ffff:ffff:ffff:ffff").plus(1).toString());
        var random = Seed.random(IpAddressTest.class);
        for (int i = 0; i < ROUNDS; i++) {
            var address = new IpAddress(true, random.nextLong(), random.nextLong());
            assertEquals(address, address.plus(1).previous());
            assertEquals(address, address.previous().plus(1));
        }
    }

    @Test
    void addressesAreInTheOrderOfTheirNumbersIpv4First() {
        var ordered =
                List.of("0.0.0.0", "10.0.0.9", "10.0.0.10", "255.0.0.0", "::", "::1", "7::", "ff::")
                        .stream()
                        .map(IpAddress::stored)
                        .toList();
        assertEquals(ordered, ordered.reversed().stream().sorted().toList());
    }

    @Test
    void anIpv4AddressHasNoMoreThan32Bits() {
        assertThrows(IllegalArgumentException.class, () -> IpAddress.v4(1L << 32));
        assertThrows(IllegalArgumentException.class, () -> IpAddress.stored("nothing"));
    }
}
