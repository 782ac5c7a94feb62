package coppice.http;

import coppice.base.Size;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;
import org.eclipse.jetty.websocket.core.exception.BadPayloadException;
import org.eclipse.jetty.websocket.core.exception.MessageTooLargeException;

/// Puts the frames of one socket together. That they come in a valid order was checked before.
final class SocketMessages {
    private final Size limit;
    private ByteArrayOutputStream parts = new ByteArrayOutputStream(0);
    private boolean isText;

    SocketMessages(Size limit) {
        this.limit = limit;
    }

    /// The message that this frame completes.
    ///
    /// @throws MessageTooLargeException when the message is beyond the limit, complete or not
    /// @throws BadPayloadException when a text is no UTF-8
    Optional<SocketEvent> add(Frame frame) {
        if (frame.getOpCode() != OpCode.CONTINUATION) {
            isText = frame.getOpCode() == OpCode.TEXT;
        }
        if (parts.size() + (long) frame.getPayloadLength() > limit.bytes()) {
            throw new MessageTooLargeException(
                    "a message has at most %d bytes".formatted(limit.bytes()));
        }
        if (frame.hasPayload()) {
            var bytes = new byte[frame.getPayloadLength()];
            frame.getPayload().slice().get(bytes);
            parts.writeBytes(bytes);
        }
        if (!frame.isFin()) {
            return Optional.empty();
        }
        var message = parts.toByteArray();
        parts = new ByteArrayOutputStream(0);
        return Optional.of(
                isText ? new SocketEvent.Text(text(message)) : new SocketEvent.Binary(message));
    }

    private static String text(byte[] message) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(message)).toString();
        } catch (CharacterCodingException e) {
            throw new BadPayloadException("a text is UTF-8", e);
        }
    }
}
