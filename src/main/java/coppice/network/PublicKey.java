package coppice.network;

import coppice.base.Code;
import coppice.base.Failure;
import java.util.Base64;
import java.util.regex.Pattern;

/// The public key of one end of a tunnel: 32 bytes in base64, as WireGuard writes them.
public record PublicKey(String text) {
    /// The last character has two bits of the key only.
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=");

    public PublicKey {
        if (!isKey(text)) {
            throw new IllegalArgumentException("no public key: " + text);
        }
    }

    /// Reads a key that a caller sent as `field`; anything else is a `BAD_REQUEST` that names the field. It is not shown: somebody may
    /// have mistaken the private one for it.
    public static PublicKey parse(String field, String text) {
        if (!isKey(text)) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "%s: must be 32 bytes in base64, as 'wg pubkey' writes them".formatted(field));
        }
        return new PublicKey(text);
    }

    static PublicKey of(byte[] bytes) {
        return new PublicKey(Base64.getEncoder().encodeToString(bytes));
    }

    /// Also of private keys.
    static boolean isKey(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
