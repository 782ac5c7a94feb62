package coppice.vm;

import coppice.base.Slug;
import coppice.disk.DiskUse;
import coppice.qemu.MemoryUse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// What VMs and snapshots take at one moment, oldest first.
public record UsageReading(List<OfVm> vms, List<OfSnapshot> snapshots) {

    /// @param account the owner's slug
    /// @param memory of a VM that runs, unless there was no time left to read it
    /// @param disk absent when there was no time left to read it
    public record OfVm(Vm vm, Slug account, Optional<MemoryUse> memory, Optional<DiskUse> disk) {}

    /// As [OfVm].
    public record OfSnapshot(Snapshot snapshot, Slug account, Optional<DiskUse> disk) {}

    /// What an account takes in all, as far as it was read. What several of its VMs and snapshots share is counted with each.
    public record Total(int vms, int snapshots, MemoryUse memory, DiskUse disk) {
        Total plus(Total other) {
            return new Total(
                    vms + other.vms,
                    snapshots + other.snapshots,
                    memory.plus(other.memory),
                    disk.plus(other.disk));
        }
    }

    public UsageReading {
        vms = List.copyOf(vms);
        snapshots = List.copyOf(snapshots);
    }

    /// Whether there was time to read all.
    public boolean isComplete() {
        return vms.stream().allMatch(vm -> vm.disk().isPresent())
                && snapshots.stream().allMatch(snapshot -> snapshot.disk().isPresent());
    }

    /// By the slugs of the accounts, in their order.
    public Map<String, Total> totals() {
        var totals = new TreeMap<String, Total>();
        for (var vm : vms) {
            var one =
                    new Total(
                            1,
                            0,
                            vm.memory().orElse(MemoryUse.NONE),
                            vm.disk().orElse(DiskUse.NONE));
            totals.merge(vm.account().text(), one, Total::plus);
        }
        for (var snapshot : snapshots) {
            var one = new Total(0, 1, MemoryUse.NONE, snapshot.disk().orElse(DiskUse.NONE));
            totals.merge(snapshot.account().text(), one, Total::plus);
        }
        return totals;
    }
}
