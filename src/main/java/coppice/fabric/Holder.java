package coppice.fabric;

/// Who has the other end of a port.
public sealed interface Holder {
    /// A QEMU of this user, which opens it as a tap.
    record User(int number) implements Holder {}

    /// A network namespace, which has it as `eth0`: a guest without a machine.
    record Namespace(String name) implements Holder {}
}
