package coppice.guest;

/// What a command wrote: the bytes that were kept, and how many there were in all.
public record Output(byte[] stdout, byte[] stderr, long stdoutLength, long stderrLength) {
    public Output {
        if (stdoutLength < stdout.length || stderrLength < stderr.length) {
            throw new IllegalArgumentException("more bytes are kept than were written");
        }
    }

    /// Whether bytes were dropped because they were over the output limit.
    public boolean isTruncated() {
        return stdoutLength > stdout.length || stderrLength > stderr.length;
    }
}
