package coppice.vm;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.qemu.Hypervisor;
import coppice.qemu.MachineShape;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/// One captured instant of a machine: a directory that holds `ram`, `devices`, `disk.raw`, the kernel for a cold boot, and this description
/// as `meta.json`. The files belong together; those of two captures are never mixed.
///
/// @param generation names the capture
/// @param storage size of the disk
/// @param devicesDigest SHA-256 of the device state, in hexadecimal digits
public record Capture(
        UUID generation,
        MachineShape shape,
        Size storage,
        Hypervisor hypervisor,
        String devicesDigest) {
    /// Raised when the files of a capture or their description change their form.
    public static final int FORMAT = 2;

    static final String DESCRIPTION = "meta.json";
    private static final String DIGEST = "digest";
    static final String RAM = "ram";
    static final String DEVICES = "devices";
    static final String DISK = "disk.raw";

    private static final List<String> LARGE = List.of(RAM, DISK);
    private static final String MARK = "coppice.generation";

    /// The files that every capture has, in the order in which they are made.
    static final List<String> FILES =
            List.of(RAM, DEVICES, DISK, "vmlinuz", "initrd", "command-line", DESCRIPTION);

    /// Reads the description of a capture and checks that its files are those that it describes. A damaged one is `UNAVAILABLE`.
    public static Capture read(Path directory) {
        var name = directory.getFileName();
        try {
            for (var file : FILES) {
                if (!Files.exists(directory.resolve(file))) {
                    throw damaged("%s of the capture %s is missing".formatted(file, name), null);
                }
            }
            var json = Json.parse(Files.readAllBytes(directory.resolve(DESCRIPTION)));
            var capture = fromJson(json);
            if (!json.equals(capture.toJson().put(DIGEST, capture.digest()).toObject())) {
                throw damaged("the description of the capture %s is damaged".formatted(name), null);
            }
            capture.requireIntact(directory);
            return capture;
        } catch (IOException | RuntimeException e) {
            throw e instanceof Failure failure && failure.code() == Code.UNAVAILABLE
                    ? failure
                    : damaged("the capture %s is damaged".formatted(name), e);
        }
    }

    private void requireIntact(Path directory) throws IOException {
        if (!devicesDigest.equals(sha256(Files.readAllBytes(directory.resolve(DEVICES))))) {
            throw damaged(
                    "the device state in %s is damaged".formatted(directory.getFileName()), null);
        }
        requireBound(directory);
        if (Files.size(directory.resolve(RAM)) != shape.totalMemory().bytes()) {
            throw damaged(
                    "the memory image in %s is damaged".formatted(directory.getFileName()), null);
        }
        if (Files.size(directory.resolve(DISK)) < storage.bytes()) {
            throw damaged("the disk in %s is damaged".formatted(directory.getFileName()), null);
        }
    }

    private static Failure damaged(String what, Exception cause) {
        return new Failure(Code.UNAVAILABLE, what, cause);
    }

    void write(Path directory) throws IOException {
        Files.write(directory.resolve(DESCRIPTION), Json.pretty(toJson().put(DIGEST, digest())));
    }

    /// Refuses to go on on another machine or under another hypervisor: device state and processor features would not fit.
    void requireRestorable(MachineShape machine, Hypervisor here) {
        if (!shape.equals(machine)) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "this VM was captured on another machine (%s) and cannot go on on this one (%s)"
                            .formatted(shape, machine));
        }
        if (!hypervisor.equals(here)) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "this VM was captured under QEMU %s (%s, processor %s) and cannot go on under QEMU %s (%s, processor %s)"
                            .formatted(
                                    hypervisor.version(),
                                    hypervisor.accelerator(),
                                    hypervisor.processor(),
                                    here.version(),
                                    here.accelerator(),
                                    here.processor()));
        }
    }

    /// Marks the files that are too large for a digest as those of this capture, in an extended attribute.
    void bind(Path directory) throws IOException {
        for (var file : LARGE) {
            attributes(directory.resolve(file)).write(MARK, UTF_8.encode(generation.toString()));
        }
    }

    /// Refuses files that another capture was made with. Files of captures from before there were marks have none.
    private void requireBound(Path directory) throws IOException {
        for (var file : LARGE) {
            var attributes = attributes(directory.resolve(file));
            if (attributes.list().contains(MARK)) {
                var mark = ByteBuffer.allocate(attributes.size(MARK));
                attributes.read(MARK, mark);
                if (!UTF_8.decode(mark.flip()).toString().equals(generation.toString())) {
                    throw damaged(
                            "%s in %s belongs to another capture"
                                    .formatted(file, directory.getFileName()),
                            null);
                }
            }
        }
    }

    private static UserDefinedFileAttributeView attributes(Path file) {
        return Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
    }

    static String digestOf(Path file) throws IOException {
        return sha256(Files.readAllBytes(file));
    }

    /// Of the description itself.
    private String digest() {
        return sha256(Json.write(toJson()));
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private JsonWriter toJson() {
        return new JsonWriter()
                .put("generation", generation)
                .put("shape", ShapeJson.write(shape))
                .put("storage", storage.bytes())
                .put(
                        "hypervisor",
                        new JsonWriter()
                                .put("accelerator", hypervisor.accelerator())
                                .put("version", hypervisor.version())
                                .put("processor", hypervisor.processor()))
                .put("devicesDigest", devicesDigest);
    }

    private static Capture fromJson(JsonObject json) {
        var hypervisor = json.requiredObject("hypervisor");
        return new Capture(
                UUID.fromString(json.requiredString("generation")),
                ShapeJson.read(json.requiredObject("shape")),
                new Size(json.requiredInteger("storage")),
                new Hypervisor(
                        hypervisor.requiredString("accelerator"),
                        hypervisor.requiredString("version"),
                        hypervisor.requiredString("processor")),
                json.requiredString("devicesDigest"));
    }
}
