package coppice.vm;

import coppice.base.Deadline;
import coppice.guest.ExecOutcome;
import coppice.guest.StreamedExec;
import coppice.guest.TerminalDescription;
import coppice.identity.AccountId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// How VMs are found, and how their guests are come to; [Vms] says what each promises.
interface Guests {
    Vm get(AccountId account, String name); // tidy: it is the contract's verb, not an accessor

    <T> T awake(AccountId account, String name, Deadline deadline, AwakeUse<T> use);

    <T> T reach(AccountId account, VmId vm, Deadline deadline, AwakeUse<T> use);

    ExecOutcome stream(AccountId account, VmId vm, StreamedExec exec, Duration timeLimit);

    Optional<Activity> activity(VmId vm);

    /// The terminals of a VM that is paused, which is not woken; `UNAVAILABLE` if they are not known.
    List<TerminalDescription> pausedTerminals(VmId vm, UUID generation);
}
