package coppice.api;

import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.http.ResponseBody;
import java.util.OptionalLong;
import java.util.function.Consumer;

/// Tells, when a streamed body has ended, how many bytes were written and whether that was all.
final class ToldWriter implements BodyWriter {
    private final OptionalLong length;
    private final BodyWriter writer;
    private final Consumer<String> told;
    private long bytes;
    private boolean begun;
    private boolean ended;

    ToldWriter(ResponseBody.Stream body, Consumer<String> told) {
        this.length = body.length();
        this.writer = body.writer();
        this.told = told;
    }

    @Override
    public void write(BodySink sink) {
        begun = true;
        writer.write(new Counting(sink));
        ended = bytes == length.orElse(bytes);
    }

    @Override
    public void close() {
        try {
            writer.close();
        } finally {
            told.accept(" %d bytes%s".formatted(bytes, begun && !ended ? ", cut off" : ""));
        }
    }

    private final class Counting implements BodySink {
        private final BodySink sink;

        Counting(BodySink sink) {
            this.sink = sink;
        }

        @Override
        public void write(byte[] piece, int at, int length) {
            sink.write(piece, at, length);
            bytes += length;
        }

        @Override
        public void flush() {
            sink.flush();
        }

        @Override
        public void whenDraining(Runnable listener) {
            sink.whenDraining(listener);
        }
    }
}
