package coppice.fabric;

import coppice.base.Secret;
import coppice.network.Tunnel;

/// This host's end of all tunnels.
///
/// @param key the private one
/// @param firstPort the tunnel with the lowest number has it, the others the ones after it
public record WireGuardEnd(Secret key, int firstPort) {
    int port(Tunnel tunnel) {
        return firstPort + tunnel.number();
    }
}
