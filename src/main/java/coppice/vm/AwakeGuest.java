package coppice.vm;

import coppice.guest.Guest;

/// The guest of a VM that is held awake until this is closed, see [Vms#hold].
record AwakeGuest(Guest guest, Activity.Hold hold) implements AutoCloseable {
    @Override
    public void close() {
        hold.close();
    }
}
