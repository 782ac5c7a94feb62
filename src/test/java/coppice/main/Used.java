package coppice.main;

import coppice.base.Deadline;
import coppice.json.Json;
import coppice.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;

/// What `coppice usage` says of one VM, in MiB; the memory of one that does not run is 0.
record Used(
        String state,
        double memoryOwn,
        double memoryShared,
        double qemu,
        double diskOwn,
        double diskShared) {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    static Used of(Installation installation, String vm) {
        var found = named(all(installation), "vms", vm);
        var memory = found.object("memory").orElse(JsonObject.empty());
        var disk = found.requiredObject("disk");
        return new Used(
                found.requiredString("state"),
                mib(memory, "own"),
                mib(memory, "shared"),
                mib(memory, "qemu"),
                mib(disk, "own"),
                mib(disk, "shared"));
    }

    /// Reads until it is as wanted, and fails with the last reading when it never is.
    static Used await(Installation installation, String vm, Predicate<Used> wanted) {
        var deadline = Deadline.in(PATIENCE);
        var used = of(installation, vm);
        while (!wanted.test(used)) {
            if (deadline.isPast()) {
                throw new AssertionError("%s has used for a minute: %s".formatted(vm, used));
            }
            used = of(installation, vm);
        }
        return used;
    }

    static JsonObject all(Installation installation, String... more) {
        var line = new java.util.ArrayList<>(java.util.List.of("usage", "--json"));
        line.addAll(java.util.List.of(more));
        return Json.parse(
                installation.program(line.toArray(String[]::new)).getBytes(StandardCharsets.UTF_8));
    }

    /// The one of this id.
    static JsonObject named(JsonObject usage, String kind, String id) {
        return usage.requiredObjects(kind).stream()
                .filter(one -> one.requiredString("id").equals(id))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no %s in %s".formatted(id, usage)));
    }

    static double mib(JsonObject object, String field) {
        return object.number(field).map(Number::doubleValue).orElse(0.0);
    }
}
