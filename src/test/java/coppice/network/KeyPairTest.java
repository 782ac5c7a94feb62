package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.process.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyPairTest {
    private static final int PAIRS = 20;

    /// The keys of RFC 7748, section 6.1.
    @ParameterizedTest
    @CsvSource({
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a,"
                + "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb,"
                + "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    })
    void aPublicKeyIsThatOfTheStandard(String privateKey, String publicKey) {
        assertEquals(base64(publicKey), KeyPair.of(base64(privateKey)).publicKey().text());
    }

    private static String base64(String hex) {
        return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
    }

    @Test
    void aMintedKeyIsClampedAndNoOtherIsLikeIt() {
        for (int n = 0; n < PAIRS; n++) {
            var pair = KeyPair.random();
            var key = Base64.getDecoder().decode(pair.privateKey().reveal());
            assertEquals(32, key.length);
            assertEquals(0, key[0] & 0b111);
            assertEquals(0b0100_0000, key[31] & 0b1100_0000);
            assertNotEquals(pair.publicKey(), KeyPair.random().publicKey());
        }
    }

    @Test
    void aMintedPairIsOneThatWireGuardWouldMake() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/wg")), "skipped: there is no wg");
        for (int n = 0; n < PAIRS; n++) {
            var pair = KeyPair.random();
            assertEquals(
                    pair.publicKey().text(),
                    shell("echo %s | wg pubkey".formatted(pair.privateKey().reveal())));
        }
    }

    @Test
    void aKeyOfWireGuardHasThePublicKeyThatWireGuardSays() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/wg")), "skipped: there is no wg");
        for (int n = 0; n < PAIRS; n++) {
            var keys = shell("key=$(wg genkey); echo $key; echo $key | wg pubkey").split("\n");
            assertEquals(keys[1], KeyPair.of(keys[0]).publicKey().text());
        }
    }

    private static String shell(String line) {
        var outcome = Command.of("sh", "-c", line).run(Deadline.in(Duration.ofSeconds(20)));
        assertEquals(0, outcome.status(), outcome.output());
        return outcome.output().strip();
    }

    @Test
    void aPairDoesNotShowItsPrivateKey() {
        var pair = KeyPair.random();
        assertTrue(pair.toString().contains("***"), pair.toString());
        assertTrue(!pair.toString().contains(pair.privateKey().reveal()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "office",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d1=",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0=\n",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7dAA",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f7d0==",
                "mC2s6r4yq0O3oC1n4m8b7v6c5x4z3l2k1j0h9g8f-_0=",
                "AAAA"
            })
    void whatIsNotThirtyTwoBytesInBase64IsNoPublicKey(String text) {
        var refused = assertThrows(Failure.class, () -> PublicKey.parse("clientPublicKey", text));
        assertEquals(Code.BAD_REQUEST, refused.code());
        assertTrue(refused.getMessage().startsWith("clientPublicKey: "), refused.getMessage());
        assertTrue(text.isEmpty() || !refused.getMessage().contains(text));
        assertThrows(IllegalArgumentException.class, () -> new PublicKey(text));
    }
}
