package coppice.identity;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;

/// Where a request comes from, as far as it can be counted: an IPv4 address, or an IPv6 network of 64 bits, any address of which one
/// machine can take.
public record Source(String text) {
    private static final int NETWORK_BYTES = 8;

    /// Empty for this machine itself: behind that, everybody may be, by a TLS end that runs here.
    public static Optional<Source> of(InetAddress address) {
        if (address.isLoopbackAddress()) {
            return Optional.empty();
        }
        return Optional.of(
                new Source(
                        address instanceof Inet4Address
                                ? address.getHostAddress()
                                : network(address.getAddress())));
    }

    private static String network(byte... address) {
        var network = Arrays.copyOf(Arrays.copyOf(address, NETWORK_BYTES), address.length);
        try {
            return InetAddress.getByAddress(network).getHostAddress() + "/64";
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has the length of an address", e);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
