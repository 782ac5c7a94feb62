package coppice.network;

import coppice.base.Cidr;

/// Ranges that this host numbers its own ends from. They mean something on this host and to one client only: no private network has
/// them, and none sees them.
public final class HostRanges {
    /// Of the clients of tunnels, in the order of [Tunnel#number] from the second address on.
    public static final Cidr TUNNELS = Cidr.stored("100.64.0.0/11");

    /// As [#TUNNELS].
    public static final Cidr TUNNELS_V6 = Cidr.stored("fdff::/48");

    /// Of the slots of VMs, see [Nic#slot].
    public static final Cidr SLOTS = Cidr.stored("100.96.0.0/11");

    private HostRanges() {}
}
