package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.disk.DataVolume;
import coppice.fabric.Fabric;
import coppice.process.ControlGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// The data volume.
@Command(name = "volume", description = "Unmount the data volume.", mixinStandardHelpOptions = true)
final class VolumeCommand {

    @Command(
            description =
                    "Unmount the data volume of a server that is stopped, for instance to move it.",
            mixinStandardHelpOptions = true)
    int unmount(
            @Option(
                            names = "--kill-vms",
                            description = "End the VMs that still run; their memory is lost.")
                    boolean kill) {
        var data = Environment.settings().dataDirectory();
        try (var _ = DataLock.take(data)) {
            var instance = DataLock.instance(data);
            var running = ControlGroup.names(instance);
            if (!running.isEmpty() && !kill) {
                throw new Failure(
                        Code.CONFLICT,
                        "%d VMs run on the volume; pause them first, or give --kill-vms"
                                .formatted(running.size()));
            }
            running.forEach(vm -> ControlGroup.of(instance, vm).delete());
            ControlGroup.forget(instance);
            Fabric.remove(NetworkKeys.fabric(Environment.settings(), instance));
            DataVolume.unmount(data);
        } catch (java.io.IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the data directory cannot be unlocked", e);
        }
        return 0;
    }
}
