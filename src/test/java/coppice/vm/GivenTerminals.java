package coppice.vm;

import coppice.Seed;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.guest.ExecOutcome;
import coppice.guest.GivenGuest;
import coppice.guest.Guest;
import coppice.guest.StreamedExec;
import coppice.guest.TerminalDescription;
import coppice.identity.AccountId;
import coppice.process.ProcessId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/// Terminals of one VM of Ada's, called "web", whose machine is a double that can be paused, stopped and cut off.
public final class GivenTerminals implements AutoCloseable {
    private final AccountId ada = new AccountId(UUID.randomUUID());
    private final GivenGuest guest = new GivenGuest();
    private final Activity activity = new Activity(InstantSource.system(), Optional.empty());
    private final AtomicInteger wakes = new AtomicInteger();
    private final Terminals terminals = new Terminals(new Double());
    private Vm vm = new AnyVm(Seed.random(GivenTerminals.class)).of(ada, running());
    private Optional<Guest> line = Optional.empty();
    private Optional<Failure> refusal = Optional.empty();
    private List<TerminalDescription> listed = List.of();

    public AccountId ada() {
        return ada;
    }

    public Terminals terminals() {
        return terminals;
    }

    public GivenGuest guest() {
        return guest;
    }

    public int wakes() {
        return wakes.get();
    }

    public Optional<Instant> lastUse() {
        return activity.last();
    }

    public boolean isUsed() {
        return activity.last().isPresent();
    }

    /// Ends the connection to the agent; the next one can be made.
    public synchronized void cut() {
        line.ifPresent(Guest::close);
        line = Optional.empty();
    }

    public synchronized void pause() {
        listed =
                line.map(open -> open.terminals().list(Deadline.in(Duration.ofSeconds(10))))
                        .orElse(List.of());
        become(new VmState.Paused(Instant.EPOCH, UUID.randomUUID()));
        cut();
    }

    /// It goes on, although nobody has used it.
    public synchronized void start() {
        become(running());
    }

    public synchronized void stop() {
        become(new VmState.Stopped(Instant.EPOCH, Optional.empty()));
        guest.reboot();
        cut();
    }

    /// Wakes fail with this from now on.
    public synchronized void refuse(Failure why) {
        refusal = Optional.of(why);
    }

    private static VmState running() {
        return new VmState.Running(Instant.EPOCH, UUID.randomUUID(), new ProcessId(1, 1));
    }

    private void become(VmState state) {
        vm = vm.in(state, vm.totalRun(), vm.history(), Instant.EPOCH);
        notifyAll();
    }

    private synchronized Guest guest(boolean wakes, Deadline deadline) {
        while (!(vm.state() instanceof VmState.Running)) {
            if (wakes) {
                refusal.ifPresent(
                        why -> {
                            throw why;
                        });
                this.wakes.incrementAndGet();
                become(running());
            } else if (vm.state() instanceof VmState.Stopped || deadline.isPast()) {
                throw new Failure(Code.UNAVAILABLE, "it does not run");
            } else {
                await(deadline);
            }
        }
        if (line.filter(Guest::isOpen).isEmpty()) {
            line = Optional.of(guest.connect());
        }
        return line.get();
    }

    private void await(Deadline deadline) {
        try {
            wait(Math.max(1, deadline.left().toMillis()));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        cut();
        guest.close();
    }

    private final class Double implements Guests {
        @Override
        public ExecOutcome stream(
                AccountId account, VmId vm, StreamedExec exec, Duration timeLimit) {
            throw new AssertionError("no program is run");
        }

        @Override
        public Vm get(AccountId account, String name) {
            synchronized (GivenTerminals.this) {
                if (account.equals(ada) && List.of("web", vm.id().text()).contains(name)) {
                    return vm;
                }
            }
            throw new Failure(Code.NOT_FOUND, "no VM " + name);
        }

        @Override
        public <T> T awake(AccountId account, String name, Deadline deadline, AwakeUse<T> use) {
            get(account, name);
            activity.touch();
            return use.with(guest(true, deadline));
        }

        @Override
        public <T> T reach(AccountId account, VmId id, Deadline deadline, AwakeUse<T> use) {
            get(account, id.text());
            return use.with(guest(false, deadline));
        }

        @Override
        public Optional<Activity> activity(VmId id) {
            return Optional.of(activity);
        }

        @Override
        public List<TerminalDescription> pausedTerminals(VmId id, UUID generation) {
            return listed;
        }
    }
}
