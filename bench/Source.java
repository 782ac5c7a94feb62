import java.io.IOException;
import java.time.Duration;

/// A VM that is captured while it runs, by whoever.
interface Source extends AutoCloseable {

    /// Runs a command in its guest.
    void exec(String command) throws Exception;

    /// The process that runs it.
    long pid() throws Exception;

    /// Captures it.
    ///
    /// @return how long its guest was stopped, as far as whoever captures it can tell
    Duration capture() throws Exception;

    /// Removes what the last capture has made; then it runs.
    void forget() throws Exception;

    @Override
    void close() throws IOException;
}
