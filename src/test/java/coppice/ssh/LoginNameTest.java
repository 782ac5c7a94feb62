package coppice.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class LoginNameTest {
    private static final String VM = "vm-8k2m4p6q8r0s2t4v6w8x";
    private static final String TOKEN =
            "sit_0123456789abcdef0123456789abcdef_" + "aZ9".repeat(14) + "x";

    @Test
    void aNameHasAVmAndAToken() {
        var name = LoginName.parse(VM + ":" + TOKEN).orElseThrow();
        assertEquals(VM, name.vm().text());
        assertEquals(Optional.empty(), name.user());
        assertEquals(TOKEN, name.token().reveal());
    }

    @Test
    void aNameMayHaveALinuxUser() {
        var name = LoginName.parse(VM + "+web-app_1:" + TOKEN).orElseThrow();
        assertEquals(Optional.of("web-app_1"), name.user());
    }

    @Test
    void aNameShowsItsTokenToNobody() {
        var name = LoginName.parse(VM + ":" + TOKEN).orElseThrow();
        assertFalse(name.toString().contains(TOKEN.substring(40)), name.toString());
    }

    @Test
    void everythingElseIsNoName() {
        for (var text :
                new String[] {
                    "",
                    "root",
                    VM,
                    VM + ":",
                    ":" + TOKEN,
                    VM + "+:" + TOKEN,
                    VM + "+Root:" + TOKEN,
                    VM + "+-x:" + TOKEN,
                    VM + "+" + "a".repeat(33) + ":" + TOKEN,
                    VM + ":" + TOKEN + "\n",
                    " " + VM + ":" + TOKEN,
                    VM + ":" + TOKEN + ":" + TOKEN,
                    VM + ":" + "x".repeat(201),
                    VM.toUpperCase(java.util.Locale.ROOT) + ":" + TOKEN,
                    "web:" + TOKEN
                }) {
            assertTrue(LoginName.parse(text).isEmpty(), text);
        }
    }
}
