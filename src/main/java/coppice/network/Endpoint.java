package coppice.network;

import java.util.Optional;

/// The server's end of a tunnel, as its client needs to know it.
///
/// @param host what to dial: a name or an address; absent: the client has to know it from elsewhere
public record Endpoint(Optional<String> host, int port, PublicKey key) {}
