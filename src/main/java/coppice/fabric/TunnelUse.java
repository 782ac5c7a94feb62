package coppice.fabric;

import coppice.identity.AccountId;
import coppice.network.TunnelId;
import java.time.Instant;
import java.util.Optional;

/// What WireGuard says of a tunnel's client.
///
/// @param lastHandshake absent: none since the tunnel's interface was made, or its key changed
/// @param passed inside of the tunnel's packets, with their headers
public record TunnelUse(
        TunnelId tunnel, AccountId account, Optional<Instant> lastHandshake, Passed passed) {}
