package coppice.main;

import coppice.disk.DataVolume;
import coppice.disk.Reflink;
import coppice.qemu.Hypervisor;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
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
                    List<String> names,
            @Option(
                            names = "--check",
                            description =
                                    "Only print what is missing; exit status 1 if anything is.")
                    boolean checkOnly) {
        var settings = Environment.settings();
        var wanted = names == null || names.isEmpty() ? settings.images() : names;
        var images = new Images(Environment.home(), settings, Hypervisor.find());
        var missing = wanted.stream().filter(image -> images.find(image).isEmpty()).toList();
        if (checkOnly) {
            missing.forEach(System.out::println);
        }
        if (checkOnly || missing.isEmpty()) {
            return missing.isEmpty() ? 0 : 1;
        }
        try (var reflink = new Reflink()) {
            var volume =
                    DataVolume.prepare(settings.dataDirectory(), settings.volumeSize(), reflink);
            missing.forEach(
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
