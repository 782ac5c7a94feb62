import coppice.base.RandomText;
import coppice.base.Size;
import coppice.disk.Reflink;
import coppice.process.ControlGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// A VM of a guest image as the server makes it, and how to make the same by hand.
///
/// @param capture what it was made from
/// @param memory in MiB
/// @param directory where its files were
/// @param qemu the one that it had
/// @param instance of the server, as its control groups name it
record Sample(
        String image,
        Path volume,
        Path capture,
        long memory,
        Path directory,
        RunningQemu qemu,
        String instance,
        Reflink reflink) {
    /// What QEMU needs beyond the guest's memory.
    private static final Size OVERHEAD = Size.ofMib(1536);

    static Sample take(Path volume, Api api, Reflink reflink, String image) throws IOException {
        var vm = api.createVm(image);
        var json = api.get("/v5/vms/" + vm);
        var sample =
                new Sample(
                        image,
                        volume,
                        volume.resolve("snapshots").resolve(json.requiredString("snapshotId")),
                        json.requiredObject("resources").requiredInteger("memory"),
                        volume.resolve("vms").resolve(vm),
                        RunningQemu.named(vm),
                        instance(vm),
                        reflink);
        api.delete("/v5/vms/" + vm);
        return sample;
    }

    private static String instance(String vm) {
        return ControlGroup.instances().stream()
                .filter(instance -> ControlGroup.names(instance).contains(vm))
                .findFirst()
                .orElseThrow();
    }

    /// A control group like that of each VM of the server, for a machine of this name. What is left of it is removed with the VMs.
    ControlGroup group(String machine) {
        var group = ControlGroup.of(instance, machine);
        group.create(Size.ofMib(2 * memory).plus(OVERHEAD), 1);
        return group;
    }

    /// A machine that is yet to be made.
    Floor floor() {
        var place = newPlace("floor");
        return new Floor(place, reflink, Wire.alone(place.getFileName().toString()));
    }

    /// The same at a wire that is there.
    Floor floor(Wire wire) {
        return new Floor(newPlace("floor"), reflink, wire);
    }

    /// The words by which the server restores such a VM.
    List<String> command(Floor floor) {
        return floor.command(qemu, directory);
    }

    Path newPlace(String kind) {
        return volume.resolve(RandomText.id(kind));
    }

    Report.Subject subject(String bench, String target) {
        return new Report.Subject(bench, image, memory, 0, target);
    }
}
