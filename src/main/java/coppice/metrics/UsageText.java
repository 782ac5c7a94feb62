package coppice.metrics;

import coppice.base.Size;
import coppice.disk.DiskUse;
import coppice.disk.VolumeSpace;
import coppice.metrics.Exposition.Sample;
import coppice.qemu.MemoryUse;
import coppice.vm.UsageReading;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What a reading says, as metrics.
///
/// @param took how long it was read
/// @param reserve what creates and captures must leave free
record UsageText(UsageReading reading, Duration took, VolumeSpace volume, Size reserve) {
    private static final List<String> STATES =
            List.of("starting", "running", "pausing", "paused", "stopped");

    @Override
    public String toString() {
        var text = new Exposition();
        addMemory(text);
        addDisks(text);
        addCounts(text);
        return text.gauge(
                        "coppice_volume_size_bytes",
                        "Size of the data volume.",
                        one(volume.size().bytes()))
                .gauge(
                        "coppice_volume_free_bytes",
                        "What is free on the data volume.",
                        one(volume.free().bytes()))
                .gauge(
                        "coppice_volume_reserve_bytes",
                        "What creates and captures must leave free on the data volume.",
                        one(reserve.bytes()))
                .gauge(
                        "coppice_usage_complete",
                        "1 when there was time to read what every VM and snapshot takes, else 0.",
                        one(reading.isComplete() ? 1 : 0))
                .gauge(
                        "coppice_usage_seconds",
                        "How long it took to read what VMs and snapshots take.",
                        one(took.toMillis() / 1000.0))
                .toString();
    }

    private void addMemory(Exposition text) {
        text.gauge(
                "coppice_vm_memory_own_bytes",
                "Guest memory that the VM has written and shares with nobody.",
                ofMemory(MemoryUse::own));
        text.gauge(
                "coppice_vm_memory_shared_bytes",
                "Guest memory in the host's page cache, shared by the VMs of one image.",
                ofMemory(MemoryUse::shared));
        text.gauge(
                "coppice_vm_memory_qemu_bytes",
                "Memory of the VM's QEMU beside the guest's.",
                ofMemory(MemoryUse::qemu));
    }

    private void addDisks(Exposition text) {
        text.gauge(
                "coppice_vm_disk_own_bytes",
                "Blocks of the VM's files that nothing else has.",
                ofVms(UsageReading.OfVm::disk, DiskUse::own));
        text.gauge(
                "coppice_vm_disk_shared_bytes",
                "Blocks of the VM's files that others have too.",
                ofVms(UsageReading.OfVm::disk, DiskUse::shared));
        text.gauge(
                "coppice_snapshot_disk_own_bytes",
                "Blocks of the snapshot's files that nothing else has.",
                ofSnapshots(DiskUse::own));
        text.gauge(
                "coppice_snapshot_disk_shared_bytes",
                "Blocks of the snapshot's files that others have too.",
                ofSnapshots(DiskUse::shared));
    }

    private void addCounts(Exposition text) {
        var counts =
                reading.vms().stream()
                        .collect(
                                Collectors.groupingBy(
                                        vm -> vm.vm().state().word(), Collectors.counting()));
        text.gauge(
                "coppice_vms",
                "VMs by their state.",
                STATES.stream()
                        .map(
                                state ->
                                        new Sample(
                                                Map.of("state", state),
                                                counts.getOrDefault(state, 0L)))
                        .toList());
        text.gauge("coppice_snapshots", "Snapshots.", one(reading.snapshots().size()));
    }

    private List<Sample> ofMemory(Function<MemoryUse, Size> part) {
        return ofVms(UsageReading.OfVm::memory, part);
    }

    private <T> List<Sample> ofVms(
            Function<UsageReading.OfVm, Optional<T>> use, Function<T, Size> part) {
        return reading.vms().stream()
                .flatMap(
                        vm ->
                                samples(
                                        Map.of(
                                                "vm",
                                                vm.vm().id().text(),
                                                "account",
                                                vm.account().text()),
                                        use.apply(vm).map(part)))
                .toList();
    }

    private List<Sample> ofSnapshots(Function<DiskUse, Size> part) {
        return reading.snapshots().stream()
                .flatMap(
                        s ->
                                samples(
                                        Map.of(
                                                "snapshot",
                                                s.snapshot().id().text(),
                                                "account",
                                                s.account().text()),
                                        s.disk().map(part)))
                .toList();
    }

    private static Stream<Sample> samples(Map<String, String> labels, Optional<Size> size) {
        return size.stream().map(bytes -> new Sample(labels, bytes.bytes()));
    }

    private static List<Sample> one(double value) {
        return List.of(Sample.of(value));
    }
}
