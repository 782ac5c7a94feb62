package coppice.main;

import coppice.disk.DataVolume;
import coppice.disk.Reflink;
import coppice.qemu.Hypervisor;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// Guest images.
@Command(
        name = "image",
        description = "Build the guest images that VMs start from.",
        mixinStandardHelpOptions = true)
final class ImageCommand {

    @Command(
            description = {
                "Build, boot and capture guest images that are not in the cache.",
                "A running server takes new ones up when it is started the next time."
            },
            mixinStandardHelpOptions = true)
    int build(
            @Parameters(
                            paramLabel = "IMAGE",
                            description = "Which (default: all that are configured).",
                            arity = "0..*")
                    List<String> names) {
        var settings = Environment.settings();
        var wanted = names == null || names.isEmpty() ? settings.images() : names;
        var images = new Images(Environment.home(), settings, Hypervisor.find());
        if (wanted.stream().allMatch(image -> images.find(image).isPresent())) {
            return 0;
        }
        try (var reflink = new Reflink()) {
            var volume =
                    DataVolume.prepare(settings.dataDirectory(), settings.volumeSize(), reflink);
            wanted.forEach(
                    image ->
                            images.ensure(
                                    image,
                                    volume,
                                    reflink,
                                    line -> System.out.println("  " + line)));
        }
        return 0;
    }
}
