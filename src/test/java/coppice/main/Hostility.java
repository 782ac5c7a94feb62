package coppice.main;

import static java.nio.charset.StandardCharsets.UTF_8;

/// What stands at the agent's port of a guest that is hostile, in place of the agent. A script has the port at descriptor 3.
enum Hostility {
    /// Random bytes and zeros, as fast as they go.
    NOISE(
            true,
            """
            while :; do
              dd if=/dev/urandom bs=64k count=40
              dd if=/dev/zero bs=64k count=40
            done >&3 2>/dev/null
            """),

    /// What the host says comes back to it, its own greeting included.
    ECHO(true, "while :; do cat <&3 >&3; done"),

    /// The agent does its work, but between its frames there is one that says to have 4 GiB.
    LENGTHS(
            true,
            """
            /usr/sbin/agent --fd 3 &
            while :; do
              usleep 300000
              printf '\\307\\004\\001\\000\\000\\000\\000\\001\\377\\377\\377\\377\\000\\000\\000\\000' >&3
            done
            """),

    /// The agent begins its work; then it ends in the middle of a frame, again and again.
    HALVES(
            false,
            """
            /usr/sbin/agent --fd 3 &
            sleep 2
            kill -9 $!
            printf '\\307\\004\\001\\000\\000\\000\\000\\001\\000\\000\\100\\000' >&3
            """),

    /// Nobody reads, and nobody says anything.
    SILENCE(false, "while :; do sleep 1000; done"),

    /// The agent greets, and then neither acknowledges nor answers anything.
    FREEZE(
            false,
            """
            /usr/sbin/agent --fd 3 &
            sleep 2
            kill -STOP $!
            while :; do sleep 1000; done
            """);

    private static final String OPEN =
            """
            #!/bin/sh
            for port in /sys/class/virtio-ports/*; do
              [ "$(cat $port/name)" != coppice.agent.0 ] || device=/dev/${port##*/}
            done
            exec 3<>$device
            """;

    /// The agent is answered before it goes; init puts in its place what is there then.
    static final String END_AGENT =
            "(usleep 300000; kill -9 $(pidof coppice-agent)) >/dev/null 2>&1 &";

    static final String TAKE_OVER =
            "cd /usr/sbin && mv coppice-agent agent && mv hostile coppice-agent; " + END_AGENT;

    private final boolean isLoud;
    private final String script;

    Hostility(boolean isLoud, String script) {
        this.isLoud = isLoud;
        this.script = script;
    }

    /// Whether the host soon finds out by what comes; else only by what does not.
    boolean isLoud() {
        return isLoud;
    }

    byte[] script() {
        return (OPEN + script + "\n").getBytes(UTF_8);
    }
}
