package coppice.fabric;

import java.util.List;
import java.util.Optional;

/// A namespace with a tap that leads nowhere: for a machine that must have an interface and is to meet nobody.
public final class Lone implements AutoCloseable {
    private static final Script SCRIPT = new Script(Optional.empty());
    private static final String PREFIX = "coppice-lone-";

    private final String namespace;

    /// @param name of its own on this machine
    /// @param user number of the user that may open the tap
    public Lone(String name, int user) {
        this.namespace = PREFIX + name;
        SCRIPT.allowTaps();
        SCRIPT.here(
                """
                ip netns add NAMESPACE
                ip -n NAMESPACE tuntap add dev tap0 mode tap user USER
                """
                        .replace("NAMESPACE", namespace)
                        .replace("USER", Integer.toString(user)));
    }

    public Fabric.Plug plug() {
        return new Fabric.Plug(Script.path(namespace), "tap0", "02:c0:00:00:ff:ff");
    }

    /// The names of those that there are.
    public static List<String> names() {
        return Script.names(PREFIX).stream()
                .map(namespace -> namespace.substring(PREFIX.length()))
                .toList();
    }

    public static void remove(String name) {
        SCRIPT.here("ip netns del %s\n".formatted(PREFIX + name));
    }

    @Override
    public void close() {
        SCRIPT.here("ip netns del %s\n".formatted(namespace));
    }
}
