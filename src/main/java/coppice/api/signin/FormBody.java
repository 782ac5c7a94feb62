package coppice.api.signin;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import coppice.api.Call;
import coppice.base.Code;
import coppice.base.Deadline;
import coppice.base.Failure;
import coppice.base.Size;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// What a browser sends of a form. Of a field that is sent twice the last counts.
final class FormBody {
    private static final String TYPE = "application/x-www-form-urlencoded";
    private static final Size MOST = new Size(8 << 10);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Map<String, String> fields = new HashMap<>();

    /// `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE` or `BAD_REQUEST` if it is no form of a few fields.
    void read(Call call) {
        var type = call.headers().first("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        if (!type.split(";", 2)[0].strip().equals(TYPE)) {
            throw new Failure(
                    Code.UNSUPPORTED_MEDIA_TYPE,
                    "this is not what the form sends; send Content-Type: " + TYPE);
        }
        var text = new String(call.bytes().read(MOST, Deadline.in(PATIENCE)), US_ASCII);
        for (var pair : text.split("&")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                fields.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
            }
        }
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException e) {
            throw new Failure(Code.BAD_REQUEST, "the form is not percent-encoded", e);
        }
    }

    /// `BAD_REQUEST` if it is missing or empty.
    String field(String name) {
        var value = shown(name);
        if (value.isEmpty()) {
            throw new Failure(Code.BAD_REQUEST, "the %s is missing; type it".formatted(name));
        }
        return value;
    }

    /// Empty if it is missing.
    String shown(String name) {
        return fields.getOrDefault(name, "");
    }
}
