package coppice.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ScriptsTest {

    @Test
    void aCommandReachesTheUsersShellAsItIs() {
        assertEquals(
                "exec \"$SHELL\" -c 'it'\\''s $(x) \"y\"\n`z`'",
                Scripts.command("it's $(x) \"y\"\n`z`"));
    }

    @Test
    void valuesOfVariablesAreNoCode() {
        var script = Scripts.onTerminal(Map.of("LANG", "';id;'", "TERM", "x"), "exec x");
        assertTrue(script.startsWith("export LANG=''\\'';id;'\\'''\nexport TERM='x'\n"), script);
        assertTrue(script.endsWith("\nexec x"), script);
    }
}
