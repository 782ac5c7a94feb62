package coppice.idempotency;

import coppice.base.RandomText;
import coppice.http.Headers;
import coppice.http.HttpResponse;
import coppice.http.ResponseBody;
import coppice.json.Json;
import coppice.json.JsonWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Answers as they are kept: they may hold what is shown only once, such as an access token, so they are sealed (AES-256-GCM) under the
/// idempotency key, which is not kept.
final class SealedAnswer {
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;
    private static final String CIPHER = "AES/GCM/NoPadding";

    private SealedAnswer() {}

    /// By which a key is found.
    static String hash(String key) {
        return HexFormat.of().formatHex(digest("found by " + key));
    }

    static byte[] seal(String key, HttpResponse answer) {
        var nonce = RandomText.bytes(NONCE);
        var box = cipher(Cipher.ENCRYPT_MODE, key, nonce, text(answer));
        return ByteBuffer.allocate(NONCE + box.length).put(nonce).put(box).array();
    }

    static HttpResponse open(String key, byte[] box) {
        var nonce = Arrays.copyOf(box, NONCE);
        var rest = Arrays.copyOfRange(box, NONCE, box.length);
        var kept = Json.parse(cipher(Cipher.DECRYPT_MODE, key, nonce, rest));
        var body = Base64.getDecoder().decode(kept.requiredString("body"));
        return new HttpResponse(
                (int) kept.requiredInteger("status"),
                new Headers(
                        kept.requiredObjects("headers").stream()
                                .map(
                                        it ->
                                                new Headers.Field(
                                                        it.requiredString("name"),
                                                        it.requiredString("value")))
                                .toList()),
                body.length == 0 ? new ResponseBody.None() : new ResponseBody.Bytes(body));
    }

    private static byte[] text(HttpResponse answer) {
        var body = answer.body() instanceof ResponseBody.Bytes(var bytes) ? bytes : new byte[0];
        return Json.write(
                new JsonWriter()
                        .put("status", answer.status())
                        .put(
                                "headers",
                                answer.headers().fields().stream()
                                        .map(
                                                it ->
                                                        new JsonWriter()
                                                                .put("name", it.name())
                                                                .put("value", it.value()))
                                        .toList())
                        .put("body", Base64.getEncoder().encodeToString(body)));
    }

    private static byte[] cipher(int mode, String key, byte[] nonce, byte[] bytes) {
        try {
            var cipher = Cipher.getInstance(CIPHER);
            cipher.init(
                    mode,
                    new SecretKeySpec(digest("sealed under " + key), "AES"),
                    new GCMParameterSpec(TAG_BITS, nonce));
            return cipher.doFinal(bytes);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("an answer could not be sealed or opened", e);
        }
    }

    private static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
