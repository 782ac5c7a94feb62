package coppice.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http2.BufferingFlowControlStrategy;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Session;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;

/// Opens the windows of one connection as bodies are read, and cuts off a peer whose unread bodies are in very many pieces: a window
/// counts bytes, and each piece takes a hundred of them however short it is.
final class JettyWindows extends BufferingFlowControlStrategy {
    private static final int MAX_PIECES = 4096;
    private static final float READ_BEFORE_OPENED = 0.5F;

    private final Map<Stream, Integer> pieces = new ConcurrentHashMap<>();

    JettyWindows() {
        super(READ_BEFORE_OPENED);
    }

    @Override
    public void onDataReceived(Session session, Stream stream, int length) {
        super.onDataReceived(session, stream, length);
        if (stream == null) {
            return;
        }
        pieces.merge(stream, 1, Integer::sum);
        if (pieces.values().stream().mapToInt(n -> n).sum() > MAX_PIECES) {
            ((HTTP2Session) session)
                    .onConnectionFailure(ErrorCode.ENHANCE_YOUR_CALM_ERROR.code, "short_data");
        }
    }

    @Override
    public void onDataConsumed(Session session, Stream stream, int length) {
        if (stream != null) {
            pieces.computeIfPresent(stream, (_, n) -> n == 1 ? null : n - 1);
        }
        super.onDataConsumed(session, stream, length);
    }

    @Override
    public void onStreamDestroyed(Stream stream) {
        pieces.remove(stream);
        super.onStreamDestroyed(stream);
    }
}
