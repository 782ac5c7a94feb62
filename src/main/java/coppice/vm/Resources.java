package coppice.vm;

import coppice.base.Size;

/// What a VM is given: processors, memory, and the size of its disk.
public record Resources(int cpu, Size memory, Size storage) {}
