package coppice.base;

import java.util.ArrayDeque;

/// Takes back, in reverse order, what was acquired step by step, unless all of it succeeded.
///
/// ```java
/// try (var undo = new Undo()) {
///     var disk = undo.add(disks.overlay(image));   // closed if a later line throws
///     ...
///     undo.keep();
///     return new Vm(disk);
/// }
/// ```
public final class Undo implements AutoCloseable {
    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    public <T extends AutoCloseable> T add(T acquired) {
        onFailure(
                () -> {
                    try {
                        acquired.close();
                    } catch (RuntimeException e) {
                        throw e;
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
        return acquired;
    }

    public void onFailure(Runnable step) {
        steps.push(step);
    }

    /// All went well: nothing is taken back.
    public void keep() {
        steps.clear();
    }

    @Override
    public void close() {
        RuntimeException first = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
