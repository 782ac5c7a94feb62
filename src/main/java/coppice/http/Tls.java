package coppice.http;

import java.nio.file.Path;
import java.time.Duration;

/// How a server proves its name: files in PEM, the certificate first in `chain` and then those that signed it, and its `key` in PKCS#8,
/// RSA or EC. Files that change are used from the next handshake after `checkTime` on; while they are not usable, what was read before is.
public record Tls(Path chain, Path key, Duration checkTime) {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    public Tls(Path chain, Path key) {
        this(chain, key, MINUTE);
    }
}
