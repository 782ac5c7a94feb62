package coppice.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;

/// Compresses answers that are at hand and long texts, for whoever accepts gzip: RFC 9110, 8.4 and 12.5.3. Streams never are: what is
/// written to them has to arrive, and not to wait in a compressor.
final class ContentCoding {
    private static final int MIN_LENGTH = 1024;
    private static final int LEVEL = 2;
    private static final int BUFFER = 8 << 10;
    private static final Set<String> TYPES = Set.of("application/json", "text/plain");
    private static final Set<Integer> NEVER = Set.of(204, 206, 304);
    private static final Pattern QUALITY = Pattern.compile("0(\\.\\d{0,3})?|1(\\.0{0,3})?");

    private ContentCoding() {}

    /// The answer as it is sent, which is the same for GET and HEAD. One that depends on what the client accepts says so.
    static HttpResponse chosen(HttpResponse answer, HttpFields request) {
        if (!(answer.body() instanceof ResponseBody.Bytes(var bytes))
                || bytes.length < MIN_LENGTH
                || !isText(answer)) {
            return answer;
        }
        var varying = answer.with(Headers.of("Vary", "Accept-Encoding"));
        if (!isGzipWanted(String.join(",", request.getValuesList(HttpHeader.ACCEPT_ENCODING)))) {
            return varying;
        }
        var headers = varying.headers().and("Content-Encoding", "gzip");
        return new HttpResponse(
                answer.status(), headers, new ResponseBody.Bytes(compressed(bytes)));
    }

    private static boolean isText(HttpResponse answer) {
        var type = answer.headers().first("Content-Type").orElse("").split(";", 2)[0];
        return TYPES.contains(type.strip().toLowerCase(Locale.ROOT))
                && !NEVER.contains(answer.status())
                && !answer.headers().has("Content-Encoding");
    }

    /// A client that would rather have no coding gets none, and so does one that refuses either way: that it can read.
    private static boolean isGzipWanted(String accepted) {
        var any = quality(accepted, "*");
        double gzip =
                quality(accepted, "gzip")
                        .or(() -> quality(accepted, "x-gzip"))
                        .or(() -> any)
                        .orElse(0.0);
        double identity = quality(accepted, "identity").orElse(0.0);
        return gzip > 0 && gzip >= identity;
    }

    /// Absent when the coding is not named, and zero when its quality is not understood.
    private static Optional<Double> quality(String accepted, String coding) {
        return Arrays.stream(accepted.split(","))
                .map(element -> element.split(";", 2))
                .filter(element -> element[0].strip().equalsIgnoreCase(coding))
                .findFirst()
                .map(element -> element.length == 1 ? 1.0 : quality(element[1]));
    }

    private static double quality(String parameter) {
        var parts = parameter.split("=", 2);
        return parts.length == 2
                        && parts[0].strip().equalsIgnoreCase("q")
                        && QUALITY.matcher(parts[1].strip()).matches()
                ? Double.parseDouble(parts[1].strip())
                : 0;
    }

    private static byte[] compressed(byte[] bytes) {
        var into = new ByteArrayOutputStream(bytes.length / 4);
        try (var gzip = new Fast(into)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot be written to", e);
        }
        return into.toByteArray();
    }

    private static final class Fast extends GZIPOutputStream {
        Fast(ByteArrayOutputStream into) throws IOException {
            super(into, BUFFER);
            def.setLevel(LEVEL);
        }
    }
}
