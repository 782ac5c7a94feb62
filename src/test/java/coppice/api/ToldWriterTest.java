package coppice.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.http.ResponseBody;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ToldWriterTest {
    private static final BodySink NOWHERE =
            new BodySink() {
                @Override
                public void write(byte[] bytes, int at, int length) {}

                @Override
                public void flush() {}

                @Override
                public void whenDraining(Runnable listener) {}
            };

    private final List<String> told = new ArrayList<>();

    @Test
    void aWholeBodyIsToldByItsLength() {
        assertEquals(List.of(" 10 bytes"), written(OptionalLong.of(10), 10));
        assertEquals(List.of(" 10 bytes"), written(OptionalLong.empty(), 10));
    }

    @Test
    void aBodyThatEndsEarlyIsToldToBeCutOff() {
        assertEquals(List.of(" 10 bytes, cut off"), written(OptionalLong.of(11), 10));
    }

    @Test
    void aBodyThatFailsIsToldToBeCutOff() {
        BodyWriter failing =
                sink -> {
                    sink.write(new byte[3]);
                    throw new IllegalStateException();
                };
        try (var writer = writer(OptionalLong.empty(), failing)) {
            assertThrows(IllegalStateException.class, () -> writer.write(NOWHERE));
            assertEquals(List.of(), told);
        }
        assertEquals(List.of(" 3 bytes, cut off"), told);
    }

    @Test
    void aBodyThatWasNotAskedForIsToldToBeEmpty() {
        writer(OptionalLong.of(10), _ -> {}).close();
        assertEquals(List.of(" 0 bytes"), told);
    }

    private List<String> written(OptionalLong length, int bytes) {
        told.clear();
        try (var writer = writer(length, sink -> sink.write(new byte[bytes]))) {
            writer.write(NOWHERE);
        }
        return told;
    }

    private ToldWriter writer(OptionalLong length, BodyWriter writer) {
        return new ToldWriter(new ResponseBody.Stream(length, writer), told::add);
    }
}
