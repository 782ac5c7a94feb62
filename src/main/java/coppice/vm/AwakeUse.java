package coppice.vm;

import coppice.guest.Guest;

/// What is done in a VM's guest while the VM is held awake, see [Vms#awake].
@FunctionalInterface
public interface AwakeUse<T> {
    T with(Guest guest);
}
