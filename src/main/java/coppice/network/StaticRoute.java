package coppice.network;

import coppice.base.Cidr;
import coppice.base.IpAddress;

/// A route in a guest. Those of equal range and metric are one route with several next hops.
///
/// @param metric 0 to 4294967295; smaller is preferred
public record StaticRoute(Cidr cidr, IpAddress via, long metric) {
    public static final long MAX_METRIC = 0xffffffffL;
}
