package coppice.qemu;

/// The cause of a failure: the QEMU that should have done something has ended.
public final class MachineEnded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Exit how;

    public MachineEnded(Exit how, Throwable seen) {
        super("the QEMU ended: " + how, seen);
        this.how = how;
    }

    public Exit how() {
        return how;
    }
}
