package coppice.vm;

/// The right to look at terminals of a VM and to type into them.
@FunctionalInterface
public interface ViewRight {
    /// Whether it holds now, for terminals of that user of the guest. A [coppice.base.Failure] says that nobody can tell.
    boolean allows(String linuxUser);
}
