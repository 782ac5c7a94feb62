package coppice.http;

import java.nio.ByteBuffer;
import java.util.OptionalLong;
import org.eclipse.jetty.http2.Flags;
import org.eclipse.jetty.http2.frames.FrameType;
import org.eclipse.jetty.http2.parser.ServerParser;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.RateControl;

/// Takes the frames of an HTTP/2 connection apart, and knows whether one is under way that [HttpLimits#headTime] binds: any but DATA,
/// since a body has the time that its reader gives it. A field block with its CONTINUATION frames counts as one, and so does the preface.
final class JettyFrames extends ServerParser {
    private static final long NONE = 0;

    private long begun = 1;
    private boolean endsHead;

    /// The number of what is under way, for [HeadDeadline]'s thread.
    private volatile long head = begun;

    JettyFrames(ByteBufferPool buffers, int maxHead, RateControl rates) {
        super(buffers, maxHead, rates);
    }

    OptionalLong head() {
        var now = head;
        return now == NONE ? OptionalLong.empty() : OptionalLong.of(now);
    }

    @Override
    protected boolean parseHeader(ByteBuffer buffer) {
        var hasBytes = buffer.hasRemaining();
        var isWhole = super.parseHeader(buffer);
        if (isWhole && getFrameType() == FrameType.DATA.getType()) {
            head = NONE;
        } else if (hasBytes && head == NONE) {
            head = ++begun;
        }
        if (isWhole) {
            endsHead = !isOfHead(getFrameType()) || hasFlag(Flags.END_HEADERS);
        }
        return isWhole;
    }

    @Override
    protected boolean parseBody(ByteBuffer buffer) {
        if (!super.parseBody(buffer)) {
            return false;
        }
        if (endsHead) {
            head = NONE;
        }
        return true;
    }

    private static boolean isOfHead(int type) {
        return type == FrameType.HEADERS.getType() || type == FrameType.CONTINUATION.getType();
    }
}
