package coppice.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OutboxTest {
    private static Call call(int stream, int fields, int body) {
        var request =
                new Request(
                        "exec",
                        new byte[fields],
                        Optional.of(Outlet.of(new byte[body])),
                        List.of());
        return new Call(stream, request, Long.MAX_VALUE);
    }

    /// What the writer thread does, for so many turns.
    private static List<String> turns(Outbox outbox, int count) throws InterruptedException {
        var sent = new ArrayList<String>();
        for (int i = 0; i < count; i++) {
            var sender = outbox.take();
            sender.next()
                    .ifPresent(
                            frame -> {
                                sent.add(
                                        frame.stream()
                                                + " "
                                                + frame.kind()
                                                + (frame.more() ? "+" : ""));
                                outbox.ready(sender);
                            });
        }
        return sent;
    }

    @Test
    void sendersTakeTurnsFrameByFrame() throws InterruptedException {
        var outbox = new Outbox();
        outbox.ready(call(1, Frame.MAX_PAYLOAD + 1, 2 * Frame.MAX_DATA));
        outbox.ready(call(2, 1, 0));
        outbox.ready(call(3, 1, 1));
        assertEquals(
                List.of(
                        "1 OPEN+", "2 OPEN", "3 OPEN", "1 OPEN", "2 END", "3 DATA", "1 DATA",
                        "3 END", "1 DATA", "1 END"),
                turns(outbox, 13));
    }

    @Test
    void aSenderWaitsOnlyOnce() throws InterruptedException {
        var outbox = new Outbox();
        var call = call(1, 1, 0);
        for (int i = 0; i < 1000; i++) {
            outbox.ready(call);
        }
        assertEquals(List.of("1 OPEN", "1 END"), turns(outbox, 3));
    }

    @Test
    void anAbandonedCallSendsAResetOnlyIfItBegan() throws InterruptedException {
        var begun = call(1, Frame.MAX_PAYLOAD + 1, 0);
        var unseen = call(2, 1, 0);
        var outbox = new Outbox();
        outbox.ready(begun);
        turns(outbox, 1);
        outbox.ready(unseen);
        begun.abandon();
        unseen.abandon();
        assertEquals(List.of("1 RESET"), turns(outbox, 3));
        assertTrue(begun.isOver() && unseen.isOver());
    }

    @Test
    void aClosedCallSendsNothing() throws InterruptedException {
        var outbox = new Outbox();
        var call = call(1, 1, 9);
        outbox.ready(call);
        call.close(new Failure(Code.UNAVAILABLE, "gone"));
        assertEquals(List.of(), turns(outbox, 1));
    }
}
