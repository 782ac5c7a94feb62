package coppice.vm;

import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.json.Json;
import coppice.qemu.MachineShape;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// A VM as it stands at one moment.
///
/// @param totalRun time spent running in earlier runs, without the present one
public record Vm(
        VmId id,
        AccountId account,
        VmState state,
        Settings settings,
        Hardware hardware,
        Origin origin,
        Duration totalRun,
        Instant createdAt,
        Instant updatedAt) {

    /// What its owner says about it and may change.
    ///
    /// @param metadata labels, in the order of their keys
    public record Settings(
            Optional<Slug> slug,
            Optional<String> displayName,
            Timers timers,
            boolean automaticRestart,
            Map<String, String> metadata) {
        public Settings {
            metadata = java.util.Collections.unmodifiableMap(new java.util.TreeMap<>(metadata));
        }

        public Settings withSlug(Optional<Slug> slug) {
            return new Settings(slug, displayName, timers, automaticRestart, metadata);
        }
    }

    /// What it runs on.
    ///
    /// @param resources what it is to have; a paused VM that was resized gets it on resume
    /// @param shape of the machine it runs on or was last captured on
    /// @param user number of the user its process runs as
    public record Hardware(Resources resources, MachineShape shape, int user) {
        Hardware with(Resources changed) {
            return new Hardware(changed, shape, user);
        }

        Hardware with(MachineShape changed) {
            return new Hardware(resources, changed, user);
        }

        /// The machine that a boot starts: all that the VM has is there from the start.
        Hardware freshlyBooted() {
            return with(
                    MachineShape.fresh(
                            resources.cpu(),
                            shape.maxCpus(),
                            resources.memory(),
                            shape.maxMemory()));
        }
    }

    /// Where it came from and what was declared with it; never changes.
    ///
    /// @param snapshotSlug how the snapshot was called then, with its owner when that is another account
    /// @param firewall the rules it was created with, a JSON array
    public record Origin(
            SnapshotId snapshot,
            Optional<String> snapshotSlug,
            Placement placement,
            String firewall) {
        private static final String NONE = "[]";

        int ruleCount() {
            return firewall.equals(NONE)
                    ? 0
                    : Json.parse(
                                    "{\"rules\":%s}"
                                            .formatted(firewall)
                                            .getBytes(StandardCharsets.UTF_8))
                            .requiredObjects("rules")
                            .size();
        }
    }

    /// Time spent running in all runs.
    public Duration totalRun(Instant now) {
        return switch (state) {
            case VmState.Running(var since, _, _) -> totalRun.plus(Duration.between(since, now));
            case VmState.Pausing(_, VmState.Running(var since, _, _), _) ->
                    totalRun.plus(Duration.between(since, now));
            case VmState.Creating _, VmState.Starting _, VmState.Paused _, VmState.Stopped _ ->
                    totalRun;
        };
    }

    Vm in(VmState next, Duration total, Instant now) {
        return new Vm(id, account, next, settings, hardware, origin, total, createdAt, now);
    }

    Vm with(Settings changed, Instant now) {
        return new Vm(id, account, state, changed, hardware, origin, totalRun, createdAt, now);
    }

    Vm with(Hardware changed, Instant now) {
        return new Vm(id, account, state, settings, changed, origin, totalRun, createdAt, now);
    }
}
