package coppice.ssh;

import coppice.vm.Hangups;
import coppice.vm.Programs;
import coppice.vm.Terminals;

/// What runs inside VMs, and how it is left.
///
/// @param terminals looked at by nobody else
record Inside(Programs programs, Terminals terminals, Hangups hangups) {}
