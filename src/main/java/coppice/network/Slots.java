package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.BitSet;

/// Small numbers, each given out once at a time. One that comes back is not given out again before all others were, so that whoever still
/// remembers its holder does not meet another one.
final class Slots {
    private final int most;
    private final BitSet taken = new BitSet();
    private int next = 1;

    /// @param most how many there are, from 1 on
    Slots(int most) {
        this.most = most;
    }

    synchronized int take() {
        int slot = taken.nextClearBit(next);
        if (slot > most) {
            slot = taken.nextClearBit(1);
        }
        if (slot > most) {
            throw new Failure(
                    Code.CONFLICT, "this host has no room for another one in its networks");
        }
        keep(slot);
        return slot;
    }

    /// Notes one that was given out by a former server.
    synchronized void keep(int slot) {
        taken.set(slot);
        next = slot + 1;
    }

    synchronized void release(int slot) {
        taken.clear(slot);
    }
}
