package coppice.main;

import coppice.ssh.SshLimits;
import coppice.ssh.SshSettings;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;

/// The keys of the configuration that are about logins by SSH.
final class SshKeys {
    private static final String HOST_KEY = "ssh_host_ed25519_key";

    private SshKeys() {}

    static void putDefaults(Map<String, String> keys) {
        keys.put("ssh.port", "");
        keys.put("ssh.address", "");
    }

    /// Absent: nobody logs in by SSH.
    static Optional<SshSettings> ssh(Settings settings) {
        var address =
                settings.optional("ssh.address", Forms::address, "an IP address or a host name")
                        .orElseGet(settings::httpAddress);
        return settings.optional(
                        "ssh.port",
                        text -> (int) Forms.whole(text, 0, 65_535),
                        "a port number, or empty for no logins by SSH")
                .map(
                        port ->
                                new SshSettings(
                                        new InetSocketAddress(address, port),
                                        settings.dataDirectory().resolve(HOST_KEY),
                                        SshLimits.USUAL));
    }
}
