package coppice.ssh;

/// The size of a client's window, as far as a terminal can have it.
record TerminalSize(int columns, int rows) {
    private static final int MAX = 1000;

    /// A client that does not know its size says 0.
    static TerminalSize of(int columns, int rows) {
        return new TerminalSize(
                columns < 1 ? 80 : Math.min(columns, MAX), rows < 1 ? 24 : Math.min(rows, MAX));
    }
}
