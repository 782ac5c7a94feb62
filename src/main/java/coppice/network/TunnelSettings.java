package coppice.network;

import java.util.Optional;

/// Where this host takes tunnels.
///
/// @param host what clients dial: a name or an address; absent: they are told none
/// @param firstPort the tunnel with the lowest number has it
/// @param ports how many ports there are from that one on, and so how many tunnels
public record TunnelSettings(Optional<String> host, int firstPort, int ports) {
    private static final int LAST_PORT = 65_535;

    public TunnelSettings {
        if (firstPort < 1 || ports < 1 || ports > LAST_PORT - firstPort + 1) {
            throw new IllegalArgumentException(
                    "no ports: %d from %d on".formatted(ports, firstPort));
        }
    }
}
