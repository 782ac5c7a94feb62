package coppice.guest;

import java.util.UUID;

/// Names one command in its VM, over all connections. Chosen by the host at random.
public record ExecId(UUID value) {
    @Override
    public String toString() {
        return value.toString();
    }
}
