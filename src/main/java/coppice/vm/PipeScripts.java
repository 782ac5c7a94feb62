package coppice.vm;

/// What runs in a guest so that a program's output comes here whole, at any size. An agent keeps the first bytes of what a command writes
/// and drops the rest, so the program writes to pipes instead, which are emptied in parts, one command for each part, and no part is begun
/// before the one before it was taken. A full pipe holds the program back, as any does.
///
/// They need a POSIX shell, `dd` and `/proc`.
final class PipeScripts {
    /// What a part can have: more, and it would be dropped where many commands run in a small guest.
    static final int PART = 1 << 20;

    private static final int BLOCK = 16 * 1024;
    private static final int BLOCKS = PART / BLOCK;

    /// Makes the two pipes and tells the number of the process that has them: 5 and 6 are where they are read. Until the program has opened
    /// them, who reads would find them at their end, so this holds them open for writing until it is told a line. It ends with its stdin.
    ///
    /// A shell that is told to read closes nothing else, so that the pipes last as long as it does.
    static final String HOLDER =
            "exec 4<&0; : | { exec 5<&0; : | exec sh -c '"
                    + "exec 6<&0 </dev/null 7>/proc/self/fd/5 8>/proc/self/fd/6; echo $$; "
                    + "read line <&4; exec 7>&- 8>&-; read line <&4'; }";

    private PipeScripts() {}

    /// Opens the pipes, says a line, and becomes the program.
    ///
    /// @param holder the number of the process that has the pipes
    static String program(long holder, String script) {
        return "exec 9>&1 >/proc/%d/fd/5 2>/proc/%d/fd/6; echo >&9; exec 9>&-\n%s"
                .formatted(holder, holder, script);
    }

    /// Writes the next part of what is in a pipe. Its stderr counts the blocks: fewer than [#BLOCKS] were the last.
    ///
    /// @param pipe 5 or 6
    static String part(long holder, int pipe) {
        return "exec dd bs=%d count=%d </proc/%d/fd/%d".formatted(BLOCK, BLOCKS, holder, pipe);
    }

    /// As the script of a part, once it is told a line; if it is told none, it does nothing.
    static String waiting(String part) {
        return "read line && " + part;
    }

    /// Whether a part was the last, from what was said of it: `12+3 records in`.
    static boolean isLast(int full, int partial) {
        return full + partial < BLOCKS;
    }
}
