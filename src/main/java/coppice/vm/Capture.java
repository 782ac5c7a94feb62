package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.json.JsonWriter;
import coppice.qemu.Hypervisor;
import coppice.qemu.MachineShape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    static final String DESCRIPTION = "meta.json";
    static final String RAM = "ram";
    static final String DEVICES = "devices";
    static final String DISK = "disk.raw";

    /// The files that every capture has, in the order in which they are made.
    static final List<String> FILES =
            List.of(RAM, DEVICES, DISK, "vmlinuz", "initrd", "command-line", DESCRIPTION);

    /// Reads the description of a capture and checks that its files are those that it describes.
    public static Capture read(Path directory) {
        try {
            var capture = fromJson(Json.parse(Files.readAllBytes(directory.resolve(DESCRIPTION))));
            if (!capture.devicesDigest().equals(digest(directory.resolve(DEVICES)))) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the device state in %s is damaged".formatted(directory.getFileName()));
            }
            long ram = Files.size(directory.resolve(RAM));
            if (ram != capture.shape().totalMemory().bytes()) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the memory image in %s is damaged".formatted(directory.getFileName()));
            }
            return capture;
        } catch (IOException e) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "the capture %s is incomplete".formatted(directory.getFileName()),
                    e);
        }
    }

    void write(Path directory) throws IOException {
        Files.write(directory.resolve(DESCRIPTION), Json.pretty(toJson()));
    }

    /// Refuses to go on under another hypervisor: device state and processor features would not fit.
    void requireRestorable(Hypervisor here) {
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

    static String digest(Path file) throws IOException {
        try {
            return HexFormat.of()
                    .formatHex(
                            MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
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
