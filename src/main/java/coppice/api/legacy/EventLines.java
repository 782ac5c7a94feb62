package coppice.api.legacy;

import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.base.Deadline;
import coppice.guest.FileEvent;
import coppice.http.BodySink;
import coppice.http.BodyWriter;
import coppice.json.Json;
import coppice.json.JsonWriter;
import coppice.vm.TreeNews;
import java.time.Duration;
import java.util.Locale;

/// What happens in a tree of files, one JSON object a line, until the watch ends; and an empty line now and then, by which the connection
/// is kept open and a caller who is gone is noticed. Every line waits until it was taken: what a slow caller does not take stays in the
/// guest.
record EventLines(GuestTree.Watch watch, Duration beat) implements BodyWriter {

    @Override
    public void write(BodySink sink) {
        sink.whenDraining(watch::close);
        sink.flush(); // the caller learns that what happens from now on is told
        var next = Deadline.in(beat);
        while (true) {
            switch (watch.next(next.left())) {
                case TreeNews.Happened(var event) -> line(sink, Json.write(json(event)));
                case TreeNews.Nothing _ -> {}
                case TreeNews.Ended _ -> {
                    return;
                }
            }
            if (next.isPast()) {
                line(sink, new byte[0]);
                next = Deadline.in(beat);
            }
        }
    }

    private static JsonWriter json(FileEvent event) {
        return new JsonWriter()
                .put("eventType", event.kind().name().toLowerCase(Locale.ROOT))
                .put("filename", event.path());
    }

    private static void line(BodySink sink, byte[] text) {
        sink.write(text);
        sink.write("\n".getBytes(UTF_8));
        sink.flush();
    }

    @Override
    public void close() {
        watch.close();
    }
}
