package coppice.guest;

import java.net.ProtocolException;
import java.util.HexFormat;

/// The network of a [FakeGuest], which takes any settings.
final class FakeNetwork {
    private FakeNetwork() {}

    /// What the guest was asked for, in one line.
    static String describe(Fields asked) throws ProtocolException {
        return "network %s mtu %d addresses %s gateways %s routes %s resolvers %s"
                .formatted(
                        HexFormat.ofDelimiter(":")
                                .formatHex(asked.bytes(Tag.DEVICE_ADDRESS).orElseThrow()),
                        asked.number(Tag.MTU, 65535),
                        asked.texts(Tag.ADDRESS),
                        asked.texts(Tag.GATEWAY),
                        asked.texts(Tag.ROUTE),
                        asked.texts(Tag.RESOLVER));
    }
}
