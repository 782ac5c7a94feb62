package coppice.ssh;

import java.util.Map;
import java.util.Optional;

/// What a client asks for on a channel.
///
/// @param script what the guest's shell is to become
/// @param environment of what runs
/// @param terminal absent: it has streams
/// @param isCommand whether it is use of its VM as long as it runs; what waits for its client is none
record Wanted(
        String script,
        Map<String, String> environment,
        Optional<TerminalSize> terminal,
        boolean isCommand) {}
