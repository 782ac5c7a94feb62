package coppice.node;

import coppice.base.Size;

/// How far this host lets itself be filled.
///
/// @param memoryOvercommit guest memory promised to running VMs, as a multiple of the host's memory. Guests that run on one image share
///     most of it, so more than 1 is usual
/// @param memoryReserve free host memory that a start must leave
/// @param diskReserve free space of the data volume that a create or a pause must leave
/// @param startsAtOnce how many VMs may be starting at the same time; others wait their turn
/// @param firstUser lowest user number for VM processes
public record Capacity(
        double memoryOvercommit,
        Size memoryReserve,
        Size diskReserve,
        int startsAtOnce,
        int firstUser) {}
