/// The host's end of the guest agent protocol (docs/agent-protocol.md): run commands in a VM, use its files and terminals, set its
/// clock and its network, grow it, shut it down.
///
/// Start with [coppice.guest.Guest], the door: one connection to one agent. A command that must survive the end of a connection is a
/// [coppice.guest.RunningExec]. Files and terminals are reached by [coppice.guest.GuestFiles] and [coppice.guest.GuestTerminals]; their
/// data flows while the request goes on (`Flow`), at the pace of the slower end. Inside, `Connection` owns the two threads, `Call` is
/// one stream and has the life of a request, `Frame`, `FrameReader`, `FrameWriter`, `Fields` and `Tag` are the wire format. The writer
/// thread pulls one frame at a time from each [coppice.guest.Sender] in turn, so nothing queues up, and a large stdin does not hold up
/// others.
///
/// A guest is hostile until proven otherwise: whatever it sends costs the host at most one frame, the window, and the output limit that
/// the caller set.
package coppice.guest;
