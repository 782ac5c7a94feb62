package coppice.network;

import coppice.base.IpAddress;

/// Which address of a family somebody wants in a network.
public sealed interface Wanted {
    /// Whichever is free.
    record Any() implements Wanted {}

    /// None.
    record None() implements Wanted {}

    /// This one.
    record Exactly(IpAddress address) implements Wanted {}
}
