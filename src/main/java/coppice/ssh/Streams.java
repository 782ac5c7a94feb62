package coppice.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.server.channel.ChannelSession;

/// The streams of a channel.
///
/// @param telling held while something is told on stderr
record Streams(
        ChannelSession channel, Input input, Output stdout, Output stderr, ReentrantLock telling) {

    /// What the client has sent next; none at the end.
    byte[] take() throws IOException, InterruptedException {
        return input.take(channel);
    }

    /// Says something to the person at the client.
    void tell(String sentence) {
        telling.lock();
        try {
            stderr.write(
                    "coppice: %s\r\n".formatted(sentence).getBytes(StandardCharsets.UTF_8),
                    () -> {});
        } finally {
            telling.unlock();
        }
    }
}
