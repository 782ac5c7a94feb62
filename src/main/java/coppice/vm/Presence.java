package coppice.vm;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/// What one VM is at this moment, and the machine it runs on while it runs. Each change is written to the store first, then made here.
///
/// Anyone may look; only the VM's loop changes it.
final class Presence {
    private final VmContext context;
    private final Activity activity;
    private volatile Vm vm;
    private volatile Optional<Machines.Live> live = Optional.empty();

    Presence(VmContext context, Vm vm) {
        this.context = context;
        this.activity = new Activity(context.clock(), vm.history().lastActivity());
        this.vm = vm;
    }

    Vm vm() {
        return vm;
    }

    Activity activity() {
        return activity;
    }

    /// The machine, while the VM runs.
    Optional<Machines.Live> live() {
        return live;
    }

    /// The machine of a VM that runs and can be used.
    Optional<Machines.Live> up() {
        return vm.state() instanceof VmState.Running
                ? live.filter(machine -> machine.qemu().isAlive())
                : Optional.empty();
    }

    /// The VM's machine was found running.
    void adopt(Machines.Live machine) {
        live = Optional.of(machine);
    }

    /// The VM has a machine from now on.
    ///
    /// @param write writes to the store that it runs
    void run(UUID run, Machines.Live machine, Consumer<Vm> write) {
        live = Optional.of(machine);
        become(new VmState.Running(now(), run, machine.qemu().process()), write);
    }

    /// Lets go of the machine.
    void leaveMachine() {
        live.ifPresent(Machines.Live::close);
        live = Optional.empty();
    }

    /// Enters a state without a machine.
    void rest(VmState.Resting next) {
        rest(next, failuresIn(next));
    }

    /// The VM ended although nobody wanted it to, or did not start again: it waits for its restart, or is given up.
    void fail(String why) {
        var aftermath = Aftermath.of(vm, why, now());
        rest(aftermath.state(), aftermath.failures());
    }

    private void rest(VmState.Resting next, Failures failures) {
        leaveMachine();
        context.machines().unplug(vm.id());
        become(next, failures, context.records()::changeProgress);
        context.node().releaseMemory(vm.id().text());
    }

    void become(VmState next) {
        become(next, context.records()::changeProgress);
    }

    private void become(VmState next, Consumer<Vm> write) {
        become(next, failuresIn(next), write);
    }

    private void become(VmState next, Failures failures, Consumer<Vm> write) {
        var now = now();
        boolean staysUp = next instanceof VmState.Running || next instanceof VmState.Pausing;
        var changed =
                vm.in(
                        next,
                        staysUp ? vm.totalRun() : vm.totalRun(now),
                        new Vm.History(activity.last(), failures),
                        now);
        write.accept(changed);
        vm = changed;
    }

    /// A VM that is stopped, by whomever, begins anew.
    private Failures failuresIn(VmState next) {
        return next instanceof VmState.Stopped ? Failures.NONE : vm.history().failures();
    }

    /// Replaces the settings. With `reassign`, their slug is taken from the VM that holds it.
    void change(UnaryOperator<Vm.Settings> change, boolean reassign) {
        var changed = vm.with(change.apply(vm.settings()), now());
        context.records().changeSettings(changed, reassign);
        vm = changed;
    }

    /// Another VM took this one's slug; the store knows already.
    void loseSlug() {
        vm = vm.with(vm.settings().withSlug(Optional.empty()), now());
    }

    /// Replaces what the VM runs on, if it has changed.
    void change(Vm.Hardware hardware) {
        if (!hardware.equals(vm.hardware())) {
            var changed = vm.with(hardware, now());
            context.records().changeProgress(changed);
            vm = changed;
        }
    }

    /// A boot starts another machine than the one that was last captured; it is written when it runs.
    void bootFresh() {
        vm = vm.with(vm.hardware().freshlyBooted(), now());
    }

    Instant now() {
        return context.clock().instant();
    }
}
