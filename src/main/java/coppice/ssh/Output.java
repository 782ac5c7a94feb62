package coppice.ssh;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.IOException;
import java.time.Duration;
import org.apache.sshd.common.io.IoOutputStream;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;

/// One of the two outputs of a channel. One thread writes.
final class Output {
    private static final Duration LOOK = Duration.ofMillis(500);

    private final IoOutputStream stream;

    Output(IoOutputStream stream) {
        this.stream = stream;
    }

    /// Returns when the client's window and connection have taken all of it. `UNAVAILABLE` if the client is gone.
    ///
    /// @param whileHeld run again and again as long as the client takes nothing
    void write(byte[] bytes, Runnable whileHeld) {
        try {
            var written = stream.writeBuffer(new ByteArrayBuffer(bytes));
            while (!written.await(LOOK.toMillis())) {
                whileHeld.run();
            }
            if (!written.isWritten()) {
                throw gone(written.getException());
            }
        } catch (IOException e) {
            throw gone(e);
        }
    }

    private static Failure gone(Throwable why) {
        return new Failure(Code.UNAVAILABLE, "the SSH client is gone", why);
    }
}
