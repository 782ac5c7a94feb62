package coppice.vm;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.disk.Published;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.zip.CRC32C;

/// The file that holds what came of an upload. What is behind the bytes that were counted is nothing: the next chunk writes over it.
record Spool(Path file) {
    private static final int BUFFER = 64 << 10;

    /// What its bytes have for sums.
    ///
    /// @param sha256 in lower case, if it was asked for
    record Sums(Optional<String> sha256, long crc32c) {}

    /// Adds a chunk behind the first `received` bytes and syncs it.
    ///
    /// @param most how many bytes it may have: one more is BAD_REQUEST
    /// @return how many it had
    long append(long received, long most, FileSource chunk, Duration stall, Deadline deadline) {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            requireBytes(channel.size() >= received);
            channel.truncate(received).position(received);
            try {
                long length = copy(chunk, channel, most, stall, deadline);
                channel.force(true);
                if (received == 0) {
                    Published.sync(file.getParent());
                }
                return length;
            } catch (IOException | RuntimeException e) {
                channel.truncate(received);
                throw e;
            }
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the chunk could not be stored; send it again", e);
        }
    }

    private static long copy(
            FileSource chunk, FileChannel channel, long most, Duration stall, Deadline deadline)
            throws IOException {
        var bytes = new byte[BUFFER];
        for (long length = 0; ; ) {
            int count = chunk.read(bytes, 0, bytes.length, deadline.atMost(stall));
            if (count == 0) {
                return length;
            }
            length += count;
            if (length > most) {
                throw new Failure(
                        Code.BAD_REQUEST,
                        "the chunk goes %d bytes past the size of the upload; send no more than that"
                                .formatted(length - most));
            }
            write(channel, ByteBuffer.wrap(bytes, 0, count));
        }
    }

    private static void write(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /// Of the first `size` bytes.
    Sums sums(Optional<MessageDigest> sha256, long size) {
        var crc = new CRC32C();
        try (var bytes = open()) {
            var buffer = new byte[BUFFER];
            for (long done = 0; done < size; ) {
                int count = bytes.read(buffer, 0, (int) Math.min(BUFFER, size - done));
                requireBytes(count > 0);
                sha256.ifPresent(of -> of.update(buffer, 0, count));
                crc.update(buffer, 0, count);
                done += count;
            }
        } catch (IOException e) {
            throw unreadable(e);
        }
        return new Sums(sha256.map(of -> HexFormat.of().formatHex(of.digest())), crc.getValue());
    }

    /// Its bytes from the first on. An upload of nothing has no file.
    InputStream open() throws IOException {
        return Files.exists(file) ? Files.newInputStream(file) : InputStream.nullInputStream();
    }

    static FileSource source(InputStream bytes) {
        return (into, at, length, _) -> {
            try {
                return Math.max(0, bytes.read(into, at, length));
            } catch (IOException e) {
                throw unreadable(e);
            }
        };
    }

    static Failure unreadable(IOException e) {
        return new Failure(
                Code.UNAVAILABLE, "what was uploaded cannot be read; try again or abort it", e);
    }

    private static void requireBytes(boolean areThere) {
        if (!areThere) {
            throw new Failure(
                    Code.UNAVAILABLE, "what was uploaded is lost; abort the upload and begin anew");
        }
    }
}
