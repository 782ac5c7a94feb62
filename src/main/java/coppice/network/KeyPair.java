package coppice.network;

import coppice.base.RandomText;
import coppice.base.Secret;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.security.spec.XECPublicKeySpec;
import java.util.Base64;
import javax.crypto.KeyAgreement;

/// A private key of X25519 (RFC 7748) and the public key that follows from it, as WireGuard has them.
record KeyPair(Secret privateKey, PublicKey publicKey) {
    private static final int BYTES = 32;
    private static final BigInteger BASE_POINT = BigInteger.valueOf(9);

    static KeyPair random() {
        return of(clamped(RandomText.bytes(BYTES)));
    }

    /// @param text the private key, base64
    static KeyPair of(String text) {
        return of(Base64.getDecoder().decode(text));
    }

    private static KeyPair of(byte[] privateKey) {
        return new KeyPair(
                new Secret(Base64.getEncoder().encodeToString(privateKey)),
                PublicKey.of(timesBasePoint(privateKey)));
    }

    /// Those bits that RFC 7748 ignores are set as it takes them, and as `wg genkey` does.
    private static byte[] clamped(byte[] privateKey) {
        privateKey[0] &= (byte) 0b1111_1000;
        privateKey[BYTES - 1] &= 0b0111_1111;
        privateKey[BYTES - 1] |= 0b0100_0000;
        return privateKey;
    }

    private static byte[] timesBasePoint(byte[] privateKey) {
        try {
            var keys = KeyFactory.getInstance("X25519");
            var agreement = KeyAgreement.getInstance("X25519");
            var curve = NamedParameterSpec.X25519;
            agreement.init(keys.generatePrivate(new XECPrivateKeySpec(curve, privateKey)));
            agreement.doPhase(keys.generatePublic(new XECPublicKeySpec(curve, BASE_POINT)), true);
            return agreement.generateSecret();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
