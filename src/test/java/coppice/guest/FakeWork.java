package coppice.guest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Optional;

/// What an agent does on one stream that is no command: it takes channel 0, sends what is in `out` of channels 1 and 2 as credit
/// allows, and at last `last`. Guarded by the monitor of the guest.
class FakeWork {
    static final class Bytes extends ByteArrayOutputStream {
        Frame frame(int stream, int channel, int from, int length) {
            return Frame.data(stream, channel, from, buf, from, length);
        }
    }

    final ByteArrayOutputStream body = new ByteArrayOutputStream();
    final Bytes[] out = {new Bytes(), new Bytes(), new Bytes()};

    /// Channels that are ENDed once all was sent; a RESULT waits for them.
    final boolean[] ends = {false, false, false};

    Optional<Frame> last = Optional.empty();

    /// Bytes of channel 0 came, after a header.
    void take(byte[] source, int from, int length) {
        body.write(source, from, length);
    }

    /// END came on channel 0.
    void bodyEnded() throws IOException {}

    /// The stream is over, in whatever way.
    void closed() {}

    void result(FieldsWriter fields) {
        last = Optional.of(Frame.fields(FrameKind.RESULT, 0, fields.toBytes()));
    }

    void reset(String code) {
        var fields = new FieldsWriter().text(Tag.CODE, code).text(Tag.MESSAGE, "so it is");
        last = Optional.of(Frame.fields(FrameKind.RESET, 0, fields.toBytes()));
    }

    /// All of this on the channel, and its END.
    void send(int channel, byte[] bytes) {
        out[channel].writeBytes(bytes);
        ends[channel] = true;
    }
}
