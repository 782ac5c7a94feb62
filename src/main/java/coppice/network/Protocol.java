package coppice.network;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// What a rule can say about how a connection speaks. `ICMP` is ICMP of IPv4 and ICMPv6 of IPv6.
public enum Protocol {
    TCP,
    UDP,
    ICMP;

    /// As the contract writes it.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public boolean hasPorts() {
        return this != ICMP;
    }

    public static Optional<Protocol> of(String word) {
        return Stream.of(values()).filter(protocol -> protocol.word().equals(word)).findFirst();
    }
}
