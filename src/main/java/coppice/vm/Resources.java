package coppice.vm;

import coppice.base.Size;

/// What a VM is given: processors, memory, and the size of its disk.
public record Resources(int cpu, Size memory, Size storage) {

    /// What a VM made from this capture gets.
    static Resources of(Capture capture) {
        return new Resources(
                capture.shape().cpus(), capture.shape().totalMemory(), capture.storage());
    }
}
