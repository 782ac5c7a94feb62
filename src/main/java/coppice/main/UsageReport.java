package coppice.main;

import coppice.base.Size;
import coppice.base.Slug;
import coppice.disk.DiskUse;
import coppice.disk.VolumeSpace;
import coppice.json.JsonWriter;
import coppice.qemu.MemoryUse;
import coppice.vm.UsageReading;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/// What `coppice usage` prints: a reading as tables, or as JSON. Sizes in MiB with one digit behind the point.
record UsageReport(UsageReading reading, VolumeSpace volume, Size reserve) {
    private static final String UNKNOWN = "-";

    /// What is a number stands to the right in its column; the first columns of a table are words.
    private record Table(int words, List<List<String>> rows) {
        @Override
        public String toString() {
            var widths =
                    IntStream.range(0, rows.getFirst().size())
                            .map(
                                    column ->
                                            rows.stream()
                                                    .mapToInt(row -> row.get(column).length())
                                                    .max()
                                                    .orElse(0))
                            .toArray();
            var text = new StringBuilder();
            for (var row : rows) {
                var line = new StringBuilder();
                for (int i = 0; i < widths.length; i++) {
                    var form = "%" + (i < words ? "-" : "") + widths[i] + "s  ";
                    line.append(form.formatted(row.get(i)));
                }
                text.append(line.toString().stripTrailing()).append('\n');
            }
            return text.toString();
        }
    }

    String text() {
        var text =
                new StringBuilder("MiB; own: nobody else has it, shared: others have it too\n\n");
        if (!reading.vms().isEmpty()) {
            text.append(vms()).append('\n');
        }
        if (!reading.snapshots().isEmpty()) {
            text.append(snapshots()).append('\n');
        }
        if (!reading.totals().isEmpty()) {
            text.append(totals()).append('\n');
        }
        text.append(
                "data volume: %s MiB, %s free, of which %s are kept in reserve\n"
                        .formatted(mib(volume.size()), mib(volume.free()), mib(reserve)));
        if (!reading.isComplete()) {
            text.append("not all was read in time: what is missing is shown as '-'\n");
        }
        return text.toString();
    }

    private Table vms() {
        var rows = new ArrayList<List<String>>();
        rows.add(
                List.of(
                        "account",
                        "VM",
                        "name",
                        "state",
                        "memory own",
                        "shared",
                        "QEMU",
                        "disk own",
                        "shared"));
        for (var vm : reading.vms()) {
            var memory = vm.memory();
            rows.add(
                    List.of(
                            vm.account().text(),
                            vm.vm().id().text(),
                            name(vm.vm().settings().slug()),
                            vm.vm().state().word(),
                            mib(memory.map(MemoryUse::own)),
                            mib(memory.map(MemoryUse::shared)),
                            mib(memory.map(MemoryUse::qemu)),
                            mib(vm.disk().map(DiskUse::own)),
                            mib(vm.disk().map(DiskUse::shared))));
        }
        return new Table(4, rows);
    }

    private Table snapshots() {
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("account", "snapshot", "name", "disk own", "shared"));
        for (var snapshot : reading.snapshots()) {
            rows.add(
                    List.of(
                            snapshot.account().text(),
                            snapshot.snapshot().id().text(),
                            name(snapshot.snapshot().settings().slug()),
                            mib(snapshot.disk().map(DiskUse::own)),
                            mib(snapshot.disk().map(DiskUse::shared))));
        }
        return new Table(3, rows);
    }

    private Table totals() {
        var rows = new ArrayList<List<String>>();
        rows.add(
                List.of(
                        "account",
                        "VMs",
                        "snapshots",
                        "memory own",
                        "shared",
                        "QEMU",
                        "disk own",
                        "shared"));
        reading.totals()
                .forEach(
                        (account, total) ->
                                rows.add(
                                        List.of(
                                                account,
                                                Integer.toString(total.vms()),
                                                Integer.toString(total.snapshots()),
                                                mib(total.memory().own()),
                                                mib(total.memory().shared()),
                                                mib(total.memory().qemu()),
                                                mib(total.disk().own()),
                                                mib(total.disk().shared()))));
        return new Table(1, rows);
    }

    private static String name(Optional<Slug> slug) {
        return slug.map(Slug::text).orElse(UNKNOWN);
    }

    private static String mib(Optional<Size> size) {
        return size.map(UsageReport::mib).orElse(UNKNOWN);
    }

    private static String mib(Size size) {
        return String.format(Locale.ROOT, "%.1f", number(size));
    }

    private static double number(Size size) {
        return Math.round(size.bytes() * 10.0 / (1 << 20)) / 10.0;
    }

    JsonWriter json() {
        return new JsonWriter()
                .put("unit", "MiB")
                .put("complete", reading.isComplete())
                .put("vms", reading.vms().stream().map(UsageReport::vm).toList())
                .put("snapshots", reading.snapshots().stream().map(UsageReport::snapshot).toList())
                .put(
                        "accounts",
                        reading.totals().entrySet().stream()
                                .map(entry -> total(entry.getKey(), entry.getValue()))
                                .toList())
                .put(
                        "volume",
                        new JsonWriter()
                                .put("size", number(volume.size()))
                                .put("free", number(volume.free()))
                                .put("reserve", number(reserve)));
    }

    private static JsonWriter vm(UsageReading.OfVm vm) {
        return new JsonWriter()
                .put("id", vm.vm().id().text())
                .put("slug", vm.vm().settings().slug().map(Slug::text))
                .put("account", vm.account().text())
                .put("state", vm.vm().state().word())
                .put("memory", vm.memory().map(UsageReport::memory))
                .put("disk", vm.disk().map(UsageReport::disk));
    }

    private static JsonWriter snapshot(UsageReading.OfSnapshot snapshot) {
        return new JsonWriter()
                .put("id", snapshot.snapshot().id().text())
                .put("slug", snapshot.snapshot().settings().slug().map(Slug::text))
                .put("account", snapshot.account().text())
                .put("disk", snapshot.disk().map(UsageReport::disk));
    }

    private static JsonWriter total(String account, UsageReading.Total total) {
        return new JsonWriter()
                .put("account", account)
                .put("vms", total.vms())
                .put("snapshots", total.snapshots())
                .put("memory", memory(total.memory()))
                .put("disk", disk(total.disk()));
    }

    private static JsonWriter memory(MemoryUse use) {
        return new JsonWriter()
                .put("own", number(use.own()))
                .put("shared", number(use.shared()))
                .put("qemu", number(use.qemu()));
    }

    private static JsonWriter disk(DiskUse use) {
        return new JsonWriter().put("own", number(use.own())).put("shared", number(use.shared()));
    }
}
