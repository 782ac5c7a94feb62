package coppice.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.Seed;
import coppice.identity.AccountId;
import coppice.process.ProcessId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// Against a second reading of the contract's table: one that counts seconds, and sets a count back where the table says so.
class DueTest {
    private static final Instant CREATED = Instant.parse("2026-03-01T09:30:00Z");
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Random random = Seed.random(DueTest.class);
    private final AnyVm any = new AnyVm(random);
    private Instant now = CREATED;
    private Vm vm;
    private Activity activity;
    private final Deque<Activity.Hold> holds = new ArrayDeque<>();
    private int age;
    private int running;
    private int runningInAll;
    private int idle;
    private int resting;
    private int waiting;

    @Test
    void whatIsDueIsWhatTheTableOfTimersSays() {
        var seen = new EnumMap<Due, Integer>(Due.class);
        for (int life = 0; life < 400; life++) {
            begin();
            for (int second = 0; second < 40; second++) {
                pass();
                happen();
                var due = Due.of(vm, activity.seen(), now);
                assertEquals(expected(), due, this::story);
                seen.merge(due, 1, Integer::sum);
            }
        }
        assertEquals(Due.values().length, seen.size(), () -> "not all were due: " + seen);
    }

    private void begin() {
        now = CREATED;
        holds.clear();
        age = 0;
        running = 0;
        runningInAll = 0;
        idle = 0;
        resting = 0;
        waiting = 0;
        activity = new Activity(() -> now, Optional.empty());
        var timers = new Timers(maybe(), maybeZero(), maybe(), maybe(), maybe());
        var settings =
                new Vm.Settings(
                        Optional.empty(),
                        Optional.empty(),
                        timers,
                        random.nextBoolean(),
                        java.util.Map.of());
        vm =
                new Vm(
                        VmId.random(),
                        AccountId.random(),
                        running(),
                        settings,
                        any.hardware(),
                        new Vm.Origin(SnapshotId.random(), Optional.empty(), Placement.ANYWHERE),
                        any.legacy(),
                        Duration.ZERO,
                        now,
                        now);
    }

    private Optional<Duration> maybe() {
        return random.nextInt(3) == 0
                ? Optional.of(Duration.ofSeconds(random.nextInt(1, 30)))
                : Optional.empty();
    }

    private Optional<Duration> maybeZero() {
        return random.nextInt(4) == 0 ? Optional.of(Duration.ZERO) : maybe();
    }

    private void pass() {
        now = now.plus(SECOND);
        age++;
        switch (vm.state()) {
            case VmState.Running _, VmState.Pausing _ -> {
                running++;
                runningInAll++;
                idle++;
            }
            case VmState.Paused _, VmState.Stopped _ -> resting++;
            case VmState.Restarting _ -> waiting--;
            case VmState.Creating _, VmState.Starting _ -> {}
        }
    }

    private void happen() {
        switch (random.nextInt(12)) {
            case 0 -> touch();
            case 1 -> {
                holds.push(activity.hold());
                idle = 0;
            }
            case 2 -> {
                if (!holds.isEmpty()) {
                    holds.pop().close();
                    idle = 0;
                }
            }
            case 3 -> changeState();
            default -> {}
        }
    }

    private void touch() {
        activity.touch();
        idle = 0;
    }

    private void changeState() {
        switch (vm.state()) {
            case VmState.Running from -> leave(from);
            case VmState.Pausing(_, var from, _) -> {
                if (random.nextBoolean()) {
                    become(from); // the capture failed, or it was used after all
                } else {
                    resting = 0;
                    become(new VmState.Paused(now, UUID.randomUUID()));
                }
            }
            case VmState.Resting before -> become(new VmState.Starting(now, before));
            case VmState.Starting _, VmState.Creating _ -> {
                running = 0;
                idle = 0;
                become(running());
            }
        }
    }

    private void leave(VmState.Running from) {
        switch (random.nextInt(3)) {
            case 0 -> become(new VmState.Pausing(now, from, UUID.randomUUID()));
            case 1 -> {
                resting = 0;
                become(new VmState.Stopped(now, Optional.empty()));
            }
            default -> {
                waiting = random.nextInt(10);
                become(new VmState.Restarting(now, now.plusSeconds(waiting), Optional.empty()));
            }
        }
    }

    private void become(VmState next) {
        boolean staysUp = next instanceof VmState.Running || next instanceof VmState.Pausing;
        vm = vm.in(next, staysUp ? vm.totalRun() : vm.totalRun(now), vm.history(), now);
    }

    private VmState.Running running() {
        return new VmState.Running(now, UUID.randomUUID(), new ProcessId(1, 1));
    }

    private Due expected() {
        var timers = vm.settings().timers();
        var persistence = vm.legacy().persistence();
        boolean mayGo = !persistence.equals(new Persistence.Persistent());
        boolean rests =
                vm.state() instanceof VmState.Stopped
                        || vm.state() instanceof VmState.Paused
                                && !persistence.equals(
                                        new Persistence.Ephemeral(Persistence.Event.STOP));
        if (mayGo && (isOver(age, timers.ttl()) || rests && isOver(resting, timers.autoDelete()))) {
            return Due.DELETE;
        }
        if (vm.state() instanceof VmState.Restarting) {
            return waiting <= 0 ? Due.RESTART : Due.NOTHING;
        }
        if (!(vm.state() instanceof VmState.Running)) {
            return Due.NOTHING;
        }
        if (isOver(running, timers.maxRun()) || isOver(runningInAll, timers.maxRunTotal())) {
            return Due.PAUSE;
        }
        return holds.isEmpty() && isOver(idle, timers.idle()) ? Due.IDLE_PAUSE : Due.NOTHING;
    }

    private static boolean isOver(int seconds, Optional<Duration> limit) {
        return limit.isPresent() && seconds >= limit.get().toSeconds();
    }

    private String story() {
        return "%s; age %d, running %d, in all %d, idle %d, resting %d, waits %d, %d holds"
                .formatted(vm, age, running, runningInAll, idle, resting, waiting, holds.size());
    }
}
