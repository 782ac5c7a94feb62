package coppice.qemu;

import java.nio.file.Path;

/// What a machine's network interface is connected to.
///
/// @param namespace the network namespace that its QEMU runs in
/// @param tap a tap in it, which the machine's user may open
/// @param mac of the interface, until the guest sets another one
public record Link(Path namespace, String tap, String mac) {}
