package coppice.qemu;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.function.BooleanSupplier;

/// The port of the agent, on QEMU's side: a UNIX socket that serves one connection at a time.
///
/// Of a connection that ends while it has something to send, QEMU 10 drops what is under way, and the guest's buffer of that is lost. One
/// that has something to send when its device state is loaded sends it at once; if nobody is connected then, the port says nothing
/// more until a connection to it has ended (hw/char/virtio-console.c, hw/char/virtio-serial-bus.c).
final class AgentPort {
    private final MachineFiles files;
    private final Qmp qmp;
    private final BooleanSupplier isAlive;

    AgentPort(MachineFiles files, Qmp qmp, BooleanSupplier isAlive) {
        this.files = files;
        this.qmp = qmp;
        this.isAlive = isAlive;
    }

    SocketChannel connect(Deadline deadline) {
        return Qmp.open(files.agent(), isAlive, deadline);
    }

    /// Waits until QEMU has seen that somebody is connected, or that nobody is.
    void await(boolean isConnected, Deadline deadline) {
        while (isConnected(deadline) != isConnected) {
            if (deadline.isPast()) {
                throw new Failure(
                        Code.UNAVAILABLE,
                        "the agent's port is not %s in time"
                                .formatted(isConnected ? "connected" : "free"));
            }
            Qemu.pause(Qemu.POLL);
        }
    }

    /// The name of a socket that nobody is connected to begins with "disconnected:" (chardev/char-socket.c).
    private boolean isConnected(Deadline deadline) {
        for (var device : qmp.ask("query-chardev", Map.of(), deadline)) {
            if (device.path("label").asString("").equals("agent")) {
                return !device.path("filename").asString("").startsWith("disconnected:");
            }
        }
        throw new IllegalStateException("a QEMU without the agent's port");
    }
}
