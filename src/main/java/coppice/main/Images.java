package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.disk.DataVolume;
import coppice.disk.Published;
import coppice.disk.Reflink;
import coppice.process.ControlGroup;
import coppice.qemu.CommandLine;
import coppice.qemu.Hypervisor;
import coppice.qemu.MachineShape;
import coppice.qemu.QemuLauncher;
import coppice.vm.BaseImage;
import coppice.vm.Capture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Consumer;

/// The guest images: built by the recipes in `images/`, booted and captured once, and kept in the cache under a hash of everything that
/// went into them. The hypervisor is part of it: a capture goes on only under the one it was made with.
final class Images {
    private static final Duration BUILD = Duration.ofMinutes(30);

    private final Path home;
    private final Settings settings;
    private final Hypervisor hypervisor;

    /// @param home the project's directory, with `images/` and `agent/`
    Images(Path home, Settings settings, Hypervisor hypervisor) {
        this.home = home;
        this.settings = settings;
        this.hypervisor = hypervisor;
    }

    /// The capture of an image, if it has been made.
    Optional<Path> find(String image) {
        return Optional.of(place(image)).filter(Files::isDirectory);
    }

    /// Makes what is missing: builds the image and captures it. Says each step.
    Path ensure(String image, DataVolume volume, Reflink reflink, Consumer<String> say) {
        var place = place(image);
        if (Files.isDirectory(place)) {
            return place;
        }
        var begun = Instant.now();
        createParent(place);
        var built = build(image, say);
        say.accept("booting and capturing %s (%s)".formatted(image, hypervisor.accelerator()));
        var size = settings.imageSize(image);
        Builds.sweepDead(volume.root());
        var build = Builds.name();
        var launcher = new QemuLauncher(hypervisor, build);
        try {
            new BaseImage(
                            volume.root().resolve(build),
                            reflink,
                            launcher,
                            settings.capacity().firstUser() + 65_000)
                    .capture(built, shape(size), size.storage(), place);
        } finally {
            ControlGroup.forget(build);
        }
        say.accept(
                "made %s in %d s"
                        .formatted(image, Duration.between(begun, Instant.now()).toSeconds()));
        return place;
    }

    private static void createParent(Path place) {
        try {
            Files.createDirectories(place.getParent());
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the cache %s cannot be written to".formatted(place.getParent()),
                    e);
        }
    }

    private Path build(String image, Consumer<String> say) {
        var built =
                settings.cacheDirectory().resolve("built").resolve(image + "-" + recipeHash(image));
        if (Files.isDirectory(built)) {
            return built;
        }
        say.accept("building %s".formatted(image));
        var unfinished = Published.unfinished(built);
        Published.delete(unfinished);
        createParent(built);
        try {
            run(image, unfinished);
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE, "the image %s could not be built".formatted(image), e);
        }
        Published.directory(unfinished, built);
        return built;
    }

    private void run(String image, Path target) throws IOException {
        var builder =
                new ProcessBuilder(
                                home.resolve("images/build").toString(),
                                image,
                                home.resolve("agent/target/coppice-agent").toString(),
                                target.toString())
                        .inheritIO();
        builder.environment()
                .put("SIZE_MIB", Long.toString(settings.imageSize(image).storage().mib()));
        builder.environment().put("COPPICE_CACHE", settings.cacheDirectory().toString());
        var process = builder.start();
        try {
            if (!process.waitFor(BUILD)) {
                process.destroy();
                throw new Failure(
                        Code.UNAVAILABLE, "the image %s was not built in time".formatted(image));
            }
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new Failure(Code.UNAVAILABLE, "interrupted while building " + image, e);
        }
        if (process.exitValue() != 0) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the image %s could not be built; see the lines above".formatted(image));
        }
    }

    private Path place(String image) {
        var size = settings.imageSize(image);
        var key =
                digest(
                        recipeHash(image),
                        size.toString(),
                        hypervisor.toString(),
                        CommandLine.fingerprint(shape(size), hypervisor),
                        Integer.toString(Capture.FORMAT));
        return settings.cacheDirectory().resolve("captured").resolve(image + "-" + key);
    }

    private static MachineShape shape(Settings.ImageSize size) {
        return MachineShape.fresh(size.cpu(), size.maxCpu(), size.memory(), size.maxMemory());
    }

    /// Changes with any file that goes into the image.
    private String recipeHash(String image) {
        var hash = sha256();
        for (var part :
                new String[] {
                    "images/build",
                    "images/command-line",
                    "images/initramfs",
                    "images/" + image,
                    "agent"
                }) {
            hashTree(home.resolve(part), hash);
        }
        hash.update(
                settings.imageSize(image)
                        .storage()
                        .toString()
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash.digest()).substring(0, 16);
    }

    private void hashTree(Path part, MessageDigest hash) {
        try (var files = Files.walk(part)) {
            for (var file :
                    files.filter(Files::isRegularFile)
                            .filter(
                                    f ->
                                            !f.startsWith(home.resolve("agent/target"))
                                                    && !f.startsWith(home.resolve("agent/test")))
                            .filter(f -> !f.toString().endsWith(".md"))
                            .sorted()
                            .toList()) {
                hash.update(
                        home.relativize(file)
                                .toString()
                                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
                hash.update(Files.readAllBytes(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the recipe %s cannot be read".formatted(part), e);
        }
    }

    private static String digest(String... parts) {
        var hash = sha256();
        hash.update(String.join("\n", parts).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(hash.digest()).substring(0, 16);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
