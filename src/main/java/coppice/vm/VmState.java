package coppice.vm;

import coppice.process.ProcessId;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/// Where a VM is in its life. Each state holds exactly what is known in it.
///
/// | from | event | through | to |
/// | --- | --- | --- | --- |
/// | - | create | starting (first) | running; if it fails the VM is gone |
/// | stopped, paused | start, use | starting | running; if it fails the state before |
/// | running | pause, idle, has run long enough | pausing | paused; if the capture fails and the guest still runs: running |
/// | running | stop, kill, power-off | - | stopped |
/// | running | reboot | restarting, at once | running |
/// | running | crash, panic, host loss | restarting, after a wait | running; if it fails restarting again, or given up: stopped |
/// | restarting | start | starting | running; if it fails restarting |
/// | paused, starting, restarting, pausing | kill | - | stopped |
/// | paused | stop | - | stopped, memory dropped |
/// | any | delete, its time is over | - | gone |
///
/// A VM without automatic restart, and one that failed too often, is stopped by a crash, a panic or the loss of its host ([Aftermath]).
public sealed interface VmState {
    Instant since();

    /// The word for it in the contract and in the store.
    String word();

    /// Whether whatever ran in the VM has ended with it: it is stopped, or will boot anew.
    default boolean hasLostWhatRan() {
        return switch (this) {
            case Stopped _, Restarting _ -> true;
            case Creating _, Starting _, Running _, Pausing _, Paused _ -> false;
        };
    }

    /// Of a VM without a machine: what it was before it was being started.
    sealed interface Resting extends VmState {}

    /// Being created: nobody has been told of it yet.
    record Creating(Instant since) implements VmState {
        @Override
        public String word() {
            return "starting";
        }
    }

    /// @param before what it goes back to when the start fails
    record Starting(Instant since, Resting before) implements VmState {
        @Override
        public String word() {
            return "starting";
        }
    }

    /// It ended by itself and is to be started again. For others it is starting.
    ///
    /// @param due when the next try begins
    /// @param why it ended; absent if it asked for a reboot
    record Restarting(Instant since, Instant due, Optional<String> why) implements Resting {
        @Override
        public String word() {
            return "starting";
        }
    }

    /// @param run names this life of the VM, to the agent and to users
    record Running(Instant since, UUID run, ProcessId process) implements VmState {
        @Override
        public String word() {
            return "running";
        }
    }

    /// @param running what it goes back to when the capture fails
    /// @param generation the capture that is being made
    record Pausing(Instant since, Running running, UUID generation) implements VmState {
        @Override
        public String word() {
            return "pausing";
        }
    }

    /// @param generation the capture that holds its memory, devices and disk
    record Paused(Instant since, UUID generation) implements Resting {
        @Override
        public String word() {
            return "paused";
        }
    }

    /// @param why it does not run, when nobody asked for that
    record Stopped(Instant since, Optional<String> why) implements Resting {
        @Override
        public String word() {
            return "stopped";
        }
    }
}
