package coppice.network;

import coppice.base.Cidr;
import java.util.Optional;

/// How much an account may have, and what this host has for its VMs.
///
/// @param ipv6 the range that is routed to this host, of which each VM gets an address
public record NetworkLimits(int rules, int vpcs, int tunnels, Optional<Cidr> ipv6) {
    public static final NetworkLimits USUAL = new NetworkLimits(1000, 100, 100, Optional.empty());
}
