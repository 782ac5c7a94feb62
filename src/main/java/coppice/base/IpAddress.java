package coppice.base;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// An IPv4 or IPv6 address, without a scope. Its text is canonical: dotted decimal, or RFC 5952. IPv4 addresses come before IPv6 ones.
///
/// @param high the first 64 bits; 0 for IPv4
/// @param low the last 64 bits; of IPv4 all 32
public record IpAddress(boolean isV6, long high, long low) implements Comparable<IpAddress> {
    public static final int V4_BITS = 32;
    public static final int V6_BITS = 128;

    private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final Pattern V4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");
    private static final Pattern V6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
    private static final long MAPPED = 0xffffL << V4_BITS;
    private static final int GROUPS = 8;

    /// Of eight groups, the last two as an IPv4 address.
    private static final int MAX_LENGTH = 45;

    public IpAddress {
        if (!isV6 && (high != 0 || low >>> V4_BITS != 0)) {
            throw new IllegalArgumentException("more than 32 bits");
        }
    }

    public static IpAddress v4(long bits) {
        return new IpAddress(false, 0, bits);
    }

    public static IpAddress v6(long high, long low) {
        return new IpAddress(true, high, low);
    }

    /// Reads an address as a person writes it; empty for anything else, host names included.
    public static Optional<IpAddress> parse(String text) {
        if (text.length() > MAX_LENGTH
                || !V4.matcher(text).matches() && !V6.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(of(InetAddress.ofLiteral(text).getAddress(), text.contains(":")));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /// The address that a socket or packet has.
    ///
    /// @param bytes 4 or 16
    public static IpAddress of(byte[] bytes) {
        return of(bytes, bytes.length > V4_BITS / Byte.SIZE);
    }

    /// Java makes an IPv4 address of an IPv6 one that is a mapped IPv4 address (`::ffff:192.0.2.1`).
    private static IpAddress of(byte[] bytes, boolean isV6) {
        long high = 0;
        long low = 0;
        for (var b : bytes) {
            high = high << Byte.SIZE | low >>> (Long.SIZE - Byte.SIZE);
            low = low << Byte.SIZE | Byte.toUnsignedLong(b);
        }
        return isV6 && bytes.length * Byte.SIZE == V4_BITS
                ? v6(0, MAPPED | low)
                : new IpAddress(isV6, high, low);
    }

    /// An address in text that this program wrote.
    public static IpAddress stored(String text) {
        return parse(text).orElseThrow(() -> new IllegalArgumentException("no address: " + text));
    }

    public int bits() {
        return isV6 ? V6_BITS : V4_BITS;
    }

    public byte[] bytes() {
        var bytes = new byte[bits() / Byte.SIZE];
        for (int i = 0; i < bytes.length; i++) {
            int shift = bits() - Byte.SIZE * (i + 1);
            bytes[i] = (byte) (shift >= Long.SIZE ? high >>> (shift - Long.SIZE) : low >>> shift);
        }
        return bytes;
    }

    /// The address so much further on. It must be one of the family.
    public IpAddress plus(long distance) {
        long sum = low + distance;
        return new IpAddress(isV6, Long.compareUnsigned(sum, low) < 0 ? high + 1 : high, sum);
    }

    public IpAddress previous() {
        return new IpAddress(isV6, low == 0 ? high - 1 : high, low - 1);
    }

    /// The first address of the network with a prefix of so many bits that this one is in.
    IpAddress first(int prefix) {
        return masked(prefix, false);
    }

    /// The last address of that network.
    IpAddress last(int prefix) {
        return masked(prefix, true);
    }

    private IpAddress masked(int prefix, boolean fills) {
        int host = bits() - prefix;
        long hostLow = host >= Long.SIZE ? -1 : (1L << host) - 1;
        long hostHigh =
                host <= Long.SIZE ? 0 : host == V6_BITS ? -1 : (1L << (host - Long.SIZE)) - 1;
        if (!isV6) {
            hostLow &= (1L << V4_BITS) - 1;
        }
        return fills
                ? new IpAddress(isV6, high | hostHigh, low | hostLow)
                : new IpAddress(isV6, high & ~hostHigh, low & ~hostLow);
    }

    @Override
    public int compareTo(IpAddress other) {
        if (isV6 != other.isV6) {
            return isV6 ? 1 : -1;
        }
        int first = Long.compareUnsigned(high, other.high);
        return first != 0 ? first : Long.compareUnsigned(low, other.low);
    }

    @Override
    public String toString() {
        if (!isV6) {
            return v4Text(low);
        }
        if (high == 0 && low >>> V4_BITS == 0xffff) {
            return "::ffff:" + v4Text(low & 0xffffffffL);
        }
        return v6Text();
    }

    private static String v4Text(long bits) {
        return "%d.%d.%d.%d"
                .formatted(bits >>> 24, bits >>> 16 & 0xff, bits >>> 8 & 0xff, bits & 0xff);
    }

    /// The longest run of two zero groups or more becomes `::`, the first of equally long ones.
    private String v6Text() {
        int from = 0;
        int length = 1;
        for (int i = 0; i < GROUPS; i++) {
            int end = i;
            while (end < GROUPS && group(end) == 0) {
                end++;
            }
            if (end - i > length) {
                from = i;
                length = end - i;
            }
        }
        return length == 1
                ? groups(0, GROUPS)
                : groups(0, from) + "::" + groups(from + length, GROUPS);
    }

    private String groups(int from, int to) {
        var text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(group(i)));
        }
        return text.toString().toLowerCase(Locale.ROOT);
    }

    private int group(int index) {
        long half = index < GROUPS / 2 ? high : low;
        return (int) (half >>> (16 * (3 - index % 4)) & 0xffff);
    }
}
