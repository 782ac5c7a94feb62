package coppice.http;

/// What a WebSocket's thread tells its handler.
sealed interface SocketEvent {
    record Text(String message) implements SocketEvent {}

    record Binary(byte[] message) implements SocketEvent {}

    record Closed(int code, String reason) implements SocketEvent {}
}
