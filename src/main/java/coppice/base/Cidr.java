package coppice.base;

import java.util.Optional;
import java.util.regex.Pattern;

/// A range of addresses with a common prefix: `10.20.30.0/24`, `fd00:1::/64`. Canonical: the bits behind the prefix are zero.
public record Cidr(IpAddress first, int prefix) {
    private static final Pattern PREFIX = Pattern.compile("[0-9]{1,3}");

    public Cidr {
        if (prefix < 0 || prefix > first.bits() || !first.equals(first.first(prefix))) {
            throw new IllegalArgumentException("no range: %s/%d".formatted(first, prefix));
        }
    }

    /// Reads a range that a caller sent as `field`; anything else is a `BAD_REQUEST` that names the field, and of a range with host bits
    /// set the network that is meant.
    public static Cidr parse(String field, String text) {
        var slash = text.indexOf('/');
        var address =
                slash < 0 ? Optional.<IpAddress>empty() : IpAddress.parse(text.substring(0, slash));
        if (address.isEmpty() || !PREFIX.matcher(text.substring(slash + 1)).matches()) {
            throw bad(field, "must be address/prefix, such as 203.0.113.0/24 or 2001:db8::/32");
        }
        int prefix = Integer.parseInt(text.substring(slash + 1));
        if (prefix > address.get().bits()) {
            throw bad(field, "has a prefix of more than %d".formatted(address.get().bits()));
        }
        var network = around(address.get(), prefix);
        if (!network.first().equals(address.get())) {
            throw bad(field, "has host bits set; the network is " + network);
        }
        return network;
    }

    private static Failure bad(String field, String problem) {
        return new Failure(Code.BAD_REQUEST, "%s: %s".formatted(field, problem));
    }

    /// A range in text that this program wrote.
    public static Cidr stored(String text) {
        return parse("stored", text);
    }

    /// The range of this size that an address is in.
    public static Cidr around(IpAddress address, int prefix) {
        return new Cidr(address.first(prefix), prefix);
    }

    public static Cidr of(IpAddress only) {
        return new Cidr(only, only.bits());
    }

    public boolean isV6() {
        return first.isV6();
    }

    public IpAddress last() {
        return first.last(prefix);
    }

    public boolean contains(IpAddress address) {
        return address.isV6() == isV6() && address.first(prefix).equals(first);
    }

    public boolean contains(Cidr other) {
        return other.prefix >= prefix && contains(other.first);
    }

    public boolean overlaps(Cidr other) {
        return contains(other) || other.contains(this);
    }

    @Override
    public String toString() {
        return first + "/" + prefix;
    }
}
