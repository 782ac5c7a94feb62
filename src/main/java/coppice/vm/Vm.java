package coppice.vm;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.qemu.MachineShape;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
        Legacy legacy,
        History history,
        Duration totalRun,
        Instant createdAt,
        Instant updatedAt) {

    /// One to which nothing has happened yet.
    public Vm(
            VmId id,
            AccountId account,
            VmState state,
            Settings settings,
            Hardware hardware,
            Origin origin,
            Legacy legacy,
            Duration totalRun,
            Instant createdAt,
            Instant updatedAt) {
        this(
                id,
                account,
                state,
                settings,
                hardware,
                origin,
                legacy,
                History.NONE,
                totalRun,
                createdAt,
                updatedAt);
    }

    /// One of which the legacy family has nothing to say.
    public Vm(
            VmId id,
            AccountId account,
            VmState state,
            Settings settings,
            Hardware hardware,
            Origin origin,
            Duration totalRun,
            Instant createdAt,
            Instant updatedAt) {
        this(
                id,
                account,
                state,
                settings,
                hardware,
                origin,
                Legacy.NONE,
                totalRun,
                createdAt,
                updatedAt);
    }

    /// What its owner says about it and may change.
    ///
    /// @param metadata labels, in the order of their keys
    /// @param activityThreshold traffic of no more bytes than this in ten seconds is no activity
    public record Settings(
            Optional<Slug> slug,
            Optional<String> displayName,
            Timers timers,
            boolean automaticRestart,
            Map<String, String> metadata,
            long activityThreshold) {
        /// What nobody has said anything about.
        public static final Settings NONE =
                new Settings(Optional.empty(), Optional.empty(), Timers.NONE, true, Map.of());

        /// With any traffic as activity.
        public Settings(
                Optional<Slug> slug,
                Optional<String> displayName,
                Timers timers,
                boolean automaticRestart,
                Map<String, String> metadata) {
            this(slug, displayName, timers, automaticRestart, metadata, 0);
        }

        public Settings {
            metadata = java.util.Collections.unmodifiableMap(new java.util.TreeMap<>(metadata));
        }

        public Settings withSlug(Optional<Slug> slug) {
            return new Settings(
                    slug, displayName, timers, automaticRestart, metadata, activityThreshold);
        }

        /// What a copy of the VM takes over. A copy has to be named, and to be declared short-lived, anew.
        Settings ofCopy() {
            var shared =
                    new Timers(
                            timers.idle(),
                            Optional.empty(),
                            timers.ttl(),
                            timers.maxRun(),
                            timers.maxRunTotal());
            return new Settings(
                    Optional.empty(),
                    displayName,
                    shared,
                    automaticRestart,
                    metadata,
                    activityThreshold);
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

        /// The same for a copy, which has a user of its own.
        Hardware forUser(int other) {
            return new Hardware(resources, shape, other);
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
    public record Origin(SnapshotId snapshot, Optional<String> snapshotSlug, Placement placement) {}

    /// What only the legacy family says about it; never changes.
    ///
    /// @param ports what is published under its host name
    /// @param workdir where legacy commands and files start, an absolute path
    /// @param isDeclared whether it was made from a template
    /// @param recipe the body of a create that makes it anew when it is started after its deletion
    public record Legacy(
            List<Port> ports,
            String workdir,
            Persistence persistence,
            boolean isDeclared,
            Optional<String> recipe) {
        /// Of a VM that the v5 family made.
        public static final Legacy NONE = new Legacy(List.of(), "/", Persistence.USUAL);

        /// One that was not declared, and that is gone when it is deleted.
        public Legacy(List<Port> ports, String workdir, Persistence persistence) {
            this(ports, workdir, persistence, false, Optional.empty());
        }

        public Legacy {
            ports = List.copyOf(ports);
            if (!workdir.startsWith("/")) {
                throw new IllegalArgumentException("not an absolute path: " + workdir);
            }
            if (ports.stream().map(Port::port).distinct().count() < ports.size()) {
                throw new IllegalArgumentException("a port that is published twice: " + ports);
            }
        }

        /// @param port where it is published, 443 or 8081
        /// @param targetPort where the VM listens
        public record Port(int port, int targetPort) {
            public static final List<Integer> PUBLISHED = List.of(443, 8081);
            public static final int MAX_TARGET = 65535;

            public Port {
                if (!PUBLISHED.contains(port) || targetPort < 1 || targetPort > MAX_TARGET) {
                    throw new IllegalArgumentException(
                            "cannot publish %d as %d".formatted(targetPort, port));
                }
            }
        }
    }

    /// What has happened to it.
    ///
    /// @param lastActivity when it was last used, as far as it was written; what is known since is in [Activity]
    public record History(Optional<Instant> lastActivity, Failures failures) {
        public static final History NONE = new History(Optional.empty(), Failures.NONE);
    }

    /// Time spent running in all runs.
    public Duration totalRun(Instant now) {
        return switch (state) {
            case VmState.Running(var since, _, _) -> totalRun.plus(Duration.between(since, now));
            case VmState.Pausing(_, VmState.Running(var since, _, _), _) ->
                    totalRun.plus(Duration.between(since, now));
            case VmState.Creating _, VmState.Starting _, VmState.Resting _ -> totalRun;
        };
    }

    /// Whether it has not yet run for as long as it may.
    boolean hasBudget(Instant now) {
        var budget = settings.timers().maxRunTotal();
        return budget.isEmpty() || totalRun(now).compareTo(budget.get()) < 0;
    }

    /// Refuses a VM that has run for as long as it may.
    void requireBudget(Instant now) {
        if (!hasBudget(now)) {
            throw new Failure(
                    Code.CONFLICT,
                    "%s has spent its maxRunTotalSeconds of %d; raise or remove it first"
                            .formatted(
                                    id, settings.timers().maxRunTotal().orElseThrow().toSeconds()));
        }
    }

    Vm in(VmState next, Duration total, History past, Instant now) {
        return new Vm(
                id, account, next, settings, hardware, origin, legacy, past, total, createdAt, now);
    }

    Vm with(Settings changed, Instant now) {
        return new Vm(
                id, account, state, changed, hardware, origin, legacy, history, totalRun, createdAt,
                now);
    }

    Vm with(Hardware changed, Instant now) {
        return new Vm(
                id, account, state, settings, changed, origin, legacy, history, totalRun, createdAt,
                now);
    }
}
