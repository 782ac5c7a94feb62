package coppice.fabric;

import coppice.base.Failure;
import coppice.network.MemberId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// The VMs whose ports are being made while their QEMUs start. Thread-safe.
final class Plugging {
    private final Map<MemberId, FutureTask<Boolean>> all = new ConcurrentHashMap<>();

    void begin(MemberId vm, Runnable act) {
        var task = new FutureTask<>(act, true);
        all.put(vm, task);
        Thread.ofVirtual().name("plug-" + vm).start(task);
    }

    /// Waits until a port is made, if that was begun. Fails as it did.
    void await(MemberId vm) {
        var task = all.get(vm);
        if (task == null) {
            return;
        }
        try {
            task.get(); // all that it does has deadlines
            all.remove(vm, task);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Failure failure) {
                throw new Failure(failure.code(), failure.getMessage(), failure);
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// Waits for the end of it, whatever came of it.
    void end(MemberId vm) {
        try {
            await(vm);
        } catch (Failure e) {
            all.remove(vm); // whoever waited for the port knows
        }
    }
}
