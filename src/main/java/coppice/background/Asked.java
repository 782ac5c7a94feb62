package coppice.background;

import java.time.Duration;

/// A request whose caller does not want to wait for ever.
///
/// @param after how long it waits, from when the body has been received in full
/// @param isResumable whether its work tells what a later server needs; its caller is not told to poll before that
/// @param isReceived whether the body has been received in full
public record Asked(Origin origin, Duration after, boolean isResumable, boolean isReceived) {}
