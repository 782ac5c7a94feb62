package coppice.api.legacy;

import coppice.api.BodyFields;
import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.json.Json;
import coppice.json.JsonObject;
import coppice.network.NewNic;
import coppice.vm.Growth;
import coppice.vm.NewVm;
import coppice.vm.Persistence;
import coppice.vm.Placement;
import coppice.vm.Resources;
import coppice.vm.SnapshotId;
import coppice.vm.Timers;
import coppice.vm.Vm;
import coppice.vm.VmId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// A legacy create, read and checked.
///
/// @param readiness how long to wait for ready signals; absent: not at all
record NewLegacyVm(
        Optional<String> snapshot,
        Sizes sizes,
        Vm.Settings settings,
        Vm.Legacy legacy,
        Setup setup,
        Optional<Duration> readiness) {
    private static final Duration USUAL_IDLE = Duration.ofSeconds(300);
    private static final int MAX_RECIPE = 1 << 20;

    /// Of a template that needs no build: what it says is what a create says too.
    private static final Set<String> UNBUILT =
            Set.of(
                    "snapshotId",
                    "vcpuCount",
                    "memSizeGb",
                    "rootfsSizeGb",
                    "discriminator",
                    "skipCache");

    /// Absent ones are the snapshot's.
    record Sizes(Optional<Integer> cpu, Optional<Size> memory, Optional<Size> storage) {
        private static final int MIB_OF_MEMORY = 1024;
        private static final int MIB_OF_STORAGE = 1000;

        static Sizes read(JsonObject body) {
            return new Sizes(
                    BodyFields.whole(body, "vcpuCount", 1, Growth.MAX_CPU),
                    BodyFields.whole(body, "memSizeGb", 1, gb(Growth.MAX_MEMORY, MIB_OF_MEMORY))
                            .map(gb -> Size.ofMib((long) gb * MIB_OF_MEMORY)),
                    BodyFields.whole(
                                    body, "rootfsSizeGb", 1, gb(Growth.MAX_STORAGE, MIB_OF_STORAGE))
                            .map(gb -> Size.ofMib((long) gb * MIB_OF_STORAGE)));
        }

        private static int gb(Size size, int mib) {
            return (int) (size.mib() / mib);
        }

        Sizes or(Sizes others) {
            return new Sizes(
                    cpu.or(others::cpu), memory.or(others::memory), storage.or(others::storage));
        }

        /// Refuses what the snapshot has more of.
        void requireRoomFor(Resources least) {
            requireAtLeast("vcpuCount", cpu, least.cpu());
            requireAtLeast("memSizeGb", memory, least.memory());
            requireAtLeast("rootfsSizeGb", storage, least.storage());
        }

        private static <T extends Comparable<T>> void requireAtLeast(
                String field, Optional<T> wanted, T least) {
            if (wanted.filter(value -> value.compareTo(least) < 0).isPresent()) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "%s: must not be smaller than the snapshot's, which has %s"
                                .formatted(field, least));
            }
        }
    }

    /// Refuses what is wrong, or what this server cannot do, before anything is made.
    static NewLegacyVm read(JsonObject body) {
        requireServed(body);
        var template = body.object("template");
        template.ifPresent(NewLegacyVm::requireUnbuilt);
        var workdir = LegacyFields.workdir(body).orElse("/");
        if (!ServiceFields.isWorkdir(workdir)) {
            throw body.fault("workdir", "must be a path without .. and without a space at its end");
        }
        var persistence = LegacyFields.persistence(body);
        var readiness = LegacyFields.readiness(body);
        return new NewLegacyVm(
                snapshot(body).or(() -> template.flatMap(NewLegacyVm::snapshot)),
                Sizes.read(body).or(Sizes.read(template.orElse(JsonObject.empty()))),
                settings(body, persistence),
                new Vm.Legacy(
                        LegacyFields.ports(body),
                        workdir,
                        persistence,
                        template.isPresent(),
                        recipe(body)),
                SetupFields.read(body, workdir),
                Optional.of(readiness).filter(_ -> body.bool("waitForReadySignal").orElse(true)));
    }

    private static void requireServed(JsonObject body) {
        if (!body.objects("domains").orElse(List.of()).isEmpty()) {
            throw new Failure(
                    Code.UNAVAILABLE,
                    "domains: this server publishes no domains yet; leave it out");
        }
    }

    private static void requireUnbuilt(JsonObject template) {
        template.fields().stream()
                .filter(field -> template.has(field) && !UNBUILT.contains(field))
                .findFirst()
                .ifPresent(
                        _ -> {
                            throw new Failure(
                                    Code.UNAVAILABLE,
                                    "template builds are not there yet; send what the VM is to be beside the template");
                        });
    }

    private static Optional<String> snapshot(JsonObject body) {
        var snapshot = body.string("snapshotId");
        snapshot.filter(name -> !SnapshotId.isId(name))
                .ifPresent(
                        name -> {
                            throw new Failure(
                                    Code.INVALID_SNAPSHOT_ID,
                                    "%s: must be the id of a snapshot"
                                            .formatted(body.path("snapshotId")),
                                    Map.of("snapshotId", name));
                        });
        return snapshot;
    }

    private static Vm.Settings settings(JsonObject body, Persistence persistence) {
        var idle = BodyFields.seconds(body, "idleTimeoutSeconds", 1, Optional.of(USUAL_IDLE));
        var autoDelete =
                persistence instanceof Persistence.Ephemeral
                        ? Optional.of(Duration.ZERO)
                        : Optional.<Duration>empty();
        return new Vm.Settings(
                Optional.empty(),
                Optional.empty(),
                new Timers(idle, autoDelete, Optional.empty(), Optional.empty(), Optional.empty()),
                true,
                Map.of(),
                LegacyFields.activityThreshold(body).orElse(0L));
    }

    private static Optional<String> recipe(JsonObject body) {
        if (!body.bool("recreate").orElse(false)) {
            return Optional.empty();
        }
        var recipe = new String(Json.write(body), StandardCharsets.UTF_8);
        if (recipe.length() > MAX_RECIPE) {
            throw body.fault(
                    "recreate",
                    "the body is kept for it and must be at most 1 MiB; make it smaller");
        }
        return Optional.of(recipe);
    }

    /// @param id of one that is made anew
    NewVm vm(NewNic nic, Optional<VmId> id) {
        return new NewVm(snapshot, settings, false, Placement.ANYWHERE, nic, legacy, id);
    }
}
