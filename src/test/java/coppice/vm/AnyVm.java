package coppice.vm;

import coppice.base.Size;
import coppice.base.Slug;
import coppice.identity.AccountId;
import coppice.process.ProcessId;
import coppice.qemu.AnyShape;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Any VM that can exist, as precisely as the store keeps it: moments in milliseconds, timers in seconds, resources in MiB.
final class AnyVm {
    private static final List<String> TEXTS =
            List.of(
                    "",
                    "a",
                    "\"\\\n\t\u0001",
                    "ä€😀",
                    "'; drop table vms; --",
                    "null",
                    " x ",
                    "{}");

    private final Random random;

    AnyVm(Random random) {
        this.random = random;
    }

    Vm of(AccountId account, VmState state) {
        return new Vm(
                VmId.random(),
                account,
                state,
                settings(),
                hardware(),
                new Vm.Origin(SnapshotId.random(), maybe(this::text), placement()),
                legacy(),
                history(),
                Duration.ofMillis(random.nextLong(1L << 40)),
                moment(),
                moment());
    }

    Vm of(AccountId account) {
        return of(account, state());
    }

    Vm.Settings settings() {
        return new Vm.Settings(
                maybe(() -> new Slug("slug-" + random.nextLong(1L << 60))),
                maybe(this::text),
                new Timers(
                        maybe(this::seconds),
                        maybe(this::seconds),
                        maybe(this::seconds),
                        maybe(this::seconds),
                        maybe(this::seconds)),
                random.nextBoolean(),
                labels(),
                random.nextLong(1L << 40));
    }

    Vm.Hardware hardware() {
        return new Vm.Hardware(
                resources(), AnyShape.of(random), random.nextInt(1, Integer.MAX_VALUE));
    }

    Resources resources() {
        return new Resources(
                random.nextInt(1, 65),
                Size.ofMib(random.nextLong(1, 1 << 18)),
                Size.ofMib(random.nextLong(1, 1 << 20)));
    }

    VmState state() {
        return switch (random.nextInt(7)) {
            case 0 -> new VmState.Creating(moment());
            case 1 -> starting();
            case 2 -> running();
            case 3 -> new VmState.Pausing(moment(), running(), UUID.randomUUID());
            case 4 -> new VmState.Paused(moment(), UUID.randomUUID());
            case 5 -> restarting(moment());
            default -> new VmState.Stopped(moment(), maybe(this::text));
        };
    }

    /// The store has one moment for both states: since when it is starting.
    private VmState starting() {
        var since = moment();
        return new VmState.Starting(
                since,
                switch (random.nextInt(3)) {
                    case 0 -> new VmState.Paused(since, UUID.randomUUID());
                    case 1 -> restarting(since);
                    default -> new VmState.Stopped(since, maybe(this::text));
                });
    }

    private VmState.Restarting restarting(Instant since) {
        return new VmState.Restarting(since, moment(), maybe(this::text));
    }

    private VmState.Running running() {
        return new VmState.Running(
                moment(),
                UUID.randomUUID(),
                new ProcessId(random.nextInt(1, 1 << 22), random.nextLong(Long.MAX_VALUE)));
    }

    Vm.History history() {
        var failures = Stream.generate(this::moment).limit(random.nextInt(6)).toList();
        return new Vm.History(maybe(this::moment), new Failures(failures, random.nextInt(8)));
    }

    Vm.Legacy legacy() {
        var ports =
                Vm.Legacy.Port.PUBLISHED.stream()
                        .filter(_ -> random.nextBoolean())
                        .map(port -> new Vm.Legacy.Port(port, random.nextInt(1, 65536)))
                        .toList();
        return new Vm.Legacy(
                ports, "/" + text(), persistence(), random.nextBoolean(), maybe(this::text));
    }

    Persistence persistence() {
        return random.nextBoolean()
                ? lasting()
                : new Persistence.Ephemeral(
                        random.nextBoolean() ? Persistence.Event.STOP : Persistence.Event.REST);
    }

    Persistence.Lasting lasting() {
        return random.nextBoolean()
                ? new Persistence.Sticky(random.nextInt(Persistence.Sticky.MAX_PRIORITY + 1))
                : new Persistence.Persistent();
    }

    Snapshot snapshot(AccountId account) {
        return new Snapshot(
                SnapshotId.random(),
                account,
                new Snapshot.Settings(
                        maybe(() -> new Slug("slug-" + random.nextLong(1L << 60))),
                        maybe(this::text),
                        maybe(this::seconds),
                        maybe(this::seconds)),
                random.nextBoolean(),
                maybe(VmId::random),
                maybe(this::resources),
                lasting(),
                standing(),
                maybe(this::moment),
                moment(),
                moment());
    }

    private Snapshot.Standing standing() {
        return switch (random.nextInt(3)) {
            case 0 -> new Snapshot.Usable();
            case 1 -> new Snapshot.Deleted(moment());
            default -> new Snapshot.Failed(moment(), text());
        };
    }

    Placement placement() {
        var rules = new ArrayList<Map<String, String>>();
        for (int i = random.nextInt(4); i > 0; i--) {
            rules.add(labels());
        }
        return new Placement(rules);
    }

    Map<String, String> labels() {
        var labels = new HashMap<String, String>();
        for (int i = random.nextInt(4); i > 0; i--) {
            labels.put(text() + i, text());
        }
        return labels;
    }

    private String text() {
        return TEXTS.get(random.nextInt(TEXTS.size())) + TEXTS.get(random.nextInt(TEXTS.size()));
    }

    private Duration seconds() {
        return Duration.ofSeconds(random.nextInt(Integer.MAX_VALUE));
    }

    private Instant moment() {
        return Instant.ofEpochMilli(random.nextLong(1L << 42));
    }

    private <T> Optional<T> maybe(Supplier<T> value) {
        return random.nextBoolean() ? Optional.of(value.get()) : Optional.empty();
    }
}
