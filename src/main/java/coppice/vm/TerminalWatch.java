package coppice.vm;

import coppice.guest.TerminalEnd;

/// What is told of a terminal by [Viewer#follow]. May block, and holds back the program in the terminal by that. A
/// [coppice.base.Failure] that is thrown ends the viewer.
public interface TerminalWatch {

    /// The next output; the array is the watcher's from here on.
    void output(byte[] bytes);

    /// After the last output.
    void exited(TerminalEnd end);
}
