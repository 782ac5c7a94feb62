/// One QEMU process for each running VM: its command line ([coppice.qemu.CommandLine], a pure function of the machine's shape), its
/// control socket ([coppice.qemu.Qmp]), its life ([coppice.qemu.Qemu]) and the copying of its memory ([coppice.qemu.GuestMemory]).
///
/// A QEMU runs under a user of its own, sandboxed, in its own session and control group, and outlives the server.
/// Start with [coppice.qemu.Qemu].
package coppice.qemu;
