package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// Percent-encoded text of paths and queries.
final class PercentCode {
    private PercentCode() {}

    /// Strictly: broken encodings, invalid UTF-8 and NUL are refused. `what` names the text in the message.
    static String decode(String text, String what) {
        if (isPlain(text)) {
            return text;
        }
        var bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) != '%') {
                int character = text.codePointAt(i);
                bytes.writeBytes(Character.toString(character).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(character) - 1;
                continue;
            }
            bytes.write(octet(text, i, what));
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException _) {
            throw broken(what);
        }
    }

    /// Whether it means just what it says.
    static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%' || c == 0 || c >= 128) {
                return false;
            }
        }
        return true;
    }

    /// A raw path made fit for a URI inside a header: what a URI may not hold is encoded, the rest is as it was.
    static String tidy(String path) {
        if (path.chars().allMatch(PercentCode::isTidy)) {
            return path;
        }
        var tidy = new StringBuilder(path.length());
        for (byte b : path.getBytes(StandardCharsets.UTF_8)) {
            if (isTidy(b)) {
                tidy.append((char) b);
            } else {
                tidy.append('%').append("%02X".formatted(b & 0xff));
            }
        }
        return tidy.toString();
    }

    private static boolean isTidy(int c) {
        return c > ' ' && c < 127 && "<>\"\\^`{|}".indexOf(c) < 0;
    }

    private static int octet(String text, int percent, String what) {
        if (percent + 2 >= text.length()
                || !HexFormat.isHexDigit(text.charAt(percent + 1))
                || !HexFormat.isHexDigit(text.charAt(percent + 2))) {
            throw broken(what);
        }
        int octet = HexFormat.fromHexDigits(text, percent + 1, percent + 3);
        if (octet == 0) {
            throw broken(what);
        }
        return octet;
    }

    private static Failure broken(String what) {
        return new Failure(
                Code.BAD_REQUEST,
                "%s is not percent-encoded UTF-8; encode it as RFC 3986 says".formatted(what));
    }
}
