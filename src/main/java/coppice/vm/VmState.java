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
/// | stopped, paused | start | starting | running; if it fails the state before |
/// | running | pause | pausing | paused; if the capture fails and the guest still runs: running |
/// | running | stop, kill, power-off, crash | - | stopped |
/// | paused, starting, pausing | kill | - | stopped |
/// | paused | stop | - | stopped, memory dropped |
/// | any | delete | - | gone |
public sealed interface VmState {
    Instant since();

    /// The word for it in the contract and in the store.
    String word();

    /// What a VM was before it was being started.
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
