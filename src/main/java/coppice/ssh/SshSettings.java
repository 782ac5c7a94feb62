package coppice.ssh;

import java.net.InetSocketAddress;
import java.nio.file.Path;

/// @param address where logins come in; port 0 is any that is free
/// @param hostKey a file, made if it is not there
public record SshSettings(InetSocketAddress address, Path hostKey, SshLimits limits) {}
