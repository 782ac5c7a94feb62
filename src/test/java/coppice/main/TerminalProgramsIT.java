package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Wait;
import coppice.api.v5.TerminalPeer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// Programs that own the whole screen, in a terminal of the default image: what they draw, and what they are told by keys and sizes.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TerminalProgramsIT {
    private static final String ESCAPE = "\u001b";
    private static final String PREFIX = "\u0002"; // of tmux's keys: Ctrl-B
    private static final String WORD = "gr\u00fcn \u20ac"; // of two and three bytes in UTF-8
    private static final String SHELL =
            "?cols=100&rows=30&linuxUser=root&exec=PS1%3D%27ready%3E%27%20exec%20bash%20--norc";

    /// Tells whether vim waits for a key: the system calls are poll, select, pselect6 and ppoll.
    private static final String WAITS =
            "grep -qE '^(7|23|270|271) ' /proc/$(pidof vim)/syscall && echo waits";

    @AutoClose private Installation installation;
    private Client client;
    private String vm;

    @BeforeAll
    void start() {
        installation =
                Installation.start(
                        Map.of("COPPICE_IMAGES", "debian", "COPPICE_IMAGE_DEFAULT", "debian"));
        client = installation.client("main");
        vm = client.createVm();
    }

    @Test
    void vimEditsInColoursIsSuspendedAndLearnsOfAnotherSize() {
        var peer = shell();
        peer.type("vim -u NONE -N -c 'syntax on' -c 'set ruler' /root/edited.c\r");
        peer.outputUntil("[New]");
        peer.type("iint a; // " + WORD + ESCAPE);
        var drawn = peer.outputUntil(latin(WORD.substring(0, 3)));
        assertTrue(drawn.matches("(?s).*" + ESCAPE + "\\[[0-9;]*3[1-7]m.*"), drawn);
        peer.type(":w\r");
        peer.outputUntil("written");
        assertEquals("int a; // " + WORD, client.run(vm, "cat /root/edited.c"));

        peer.type("\u001a");
        assertTrue(peer.outputUntil("ready>").contains("Stopped"));
        peer.type("fg\r");
        peer.outputUntil("int");
        peer.say("{\"type\":\"resize\",\"cols\":133,\"rows\":44}");
        peer.type(":call writefile([&columns . 'x' . &lines], '/root/size')\r");
        awaitContent("133x44", "cat /root/size 2>/dev/null");
        awaitContent("waits", WAITS); // or the key would interrupt the command

        peer.type("\u0003"); // is no end of it: it says how it is left
        peer.outputUntil(":qa");
        peer.type(":q\r");
        peer.outputUntil("ready>");
        leave(peer);
    }

    @Test
    void tmuxKeepsItsPanesAndTheirProgramsThroughConnectionsAndRestarts() {
        var peer = shell();
        peer.type("tmux new -s work\r");
        var drawn = peer.outputUntil("[work]");
        assertTrue(drawn.contains(ESCAPE + "[30m") || drawn.contains(ESCAPE + "[42m"), drawn);
        peer.type("printf '\\033[31m%s\\n' " + WORD.replace(" ", "") + "\r");
        peer.outputUntil(ESCAPE + "[31m" + latin(WORD.replace(" ", "")));
        peer.type("sleep 1000\r");
        awaitContent("sleep", "tmux display -p -t work '#{pane_current_command}'");
        peer.type("\u0003");
        peer.type("echo status $?\r");
        peer.outputUntil("status 130");
        peer.type(PREFIX + "%");
        awaitContent("2", "tmux list-panes -t work | wc -l");
        peer.say("{\"type\":\"resize\",\"cols\":140,\"rows\":40}");
        awaitContent("140x39", "tmux display -p -t work '#{window_width}x#{window_height}'");

        peer.cut();
        installation.killServer();
        installation.startServer();
        peer = shell();
        peer.type("tmux attach -t work\r");
        peer.outputUntil("status 130");
        peer.type(PREFIX + "d");
        peer.outputUntil("[detached (from session work)]");
        client.run(vm, "tmux kill-server");
        leave(peer);
    }

    private TerminalPeer shell() {
        var peer = client.terminal(vm, SHELL);
        peer.text();
        peer.outputUntil("ready>");
        return peer;
    }

    private static void leave(TerminalPeer peer) {
        peer.type("exit 3\r");
        assertEquals(3, peer.textAfterOutput().requiredInteger("exitCode"));
    }

    /// The command fails as long as the file is not there that it shows.
    private void awaitContent(String expected, String command) {
        var look = command + " || true";
        Wait.until(
                Duration.ofSeconds(20),
                () -> client.run(vm, look).strip().equals(expected),
                () -> "%s: %s".formatted(command, client.run(vm, look)));
    }

    /// As [TerminalPeer] shows bytes.
    private static String latin(String text) {
        return new String(
                text.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
