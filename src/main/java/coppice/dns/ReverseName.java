package coppice.dns;

import coppice.base.Cidr;
import coppice.base.IpAddress;
import java.util.Optional;
import java.util.regex.Pattern;
import org.xbill.DNS.Name;

/// A name that stands for an address, such as `3.2.0.192.in-addr.arpa.`, or for a range of them, or is below such a name.
///
/// @param range the smallest one that the name is in
/// @param isWhole whether it is the name of that range and has nothing more
record ReverseName(Cidr range, boolean isWhole) {
    private static final Name V4 = Name.fromConstantString("in-addr.arpa.");
    private static final Name V6 = Name.fromConstantString("ip6.arpa.");
    private static final Pattern OCTET = Pattern.compile("[0-9]{1,3}");
    private static final Pattern NIBBLE = Pattern.compile("[0-9a-fA-F]");
    private static final int MAX_OCTET = 255;
    private static final int NIBBLE_BITS = 4;

    static Optional<ReverseName> parse(Name name) {
        if (name.subdomain(V4)) {
            return Optional.of(v4(name));
        }
        return name.subdomain(V6) ? Optional.of(v6(name)) : Optional.empty();
    }

    /// Of an address, the one that it has this name for.
    Optional<IpAddress> address() {
        return isWhole && range.prefix() == range.first().bits()
                ? Optional.of(range.first())
                : Optional.empty();
    }

    private static ReverseName v4(Name name) {
        int labels = name.labels() - V4.labels();
        int read = 0;
        long bits = 0;
        while (read < Math.min(labels, IpAddress.V4_BITS / Byte.SIZE)) {
            var label = name.getLabelString(labels - 1 - read);
            if (!OCTET.matcher(label).matches() || Integer.parseInt(label) > MAX_OCTET) {
                break;
            }
            read++;
            bits |= Long.parseLong(label) << IpAddress.V4_BITS - read * Byte.SIZE;
        }
        return new ReverseName(new Cidr(IpAddress.v4(bits), read * Byte.SIZE), read == labels);
    }

    private static ReverseName v6(Name name) {
        int labels = name.labels() - V6.labels();
        int read = 0;
        long high = 0;
        long low = 0;
        while (read < Math.min(labels, IpAddress.V6_BITS / NIBBLE_BITS)) {
            var label = name.getLabelString(labels - 1 - read);
            if (!NIBBLE.matcher(label).matches()) {
                break;
            }
            read++;
            long nibble = Long.parseLong(label, 16);
            int shift = IpAddress.V6_BITS - read * NIBBLE_BITS;
            if (shift >= Long.SIZE) {
                high |= nibble << shift - Long.SIZE;
            } else {
                low |= nibble << shift;
            }
        }
        return new ReverseName(
                new Cidr(IpAddress.v6(high, low), read * NIBBLE_BITS), read == labels);
    }
}
