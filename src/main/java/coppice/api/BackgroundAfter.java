package coppice.api;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.http.Headers;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The request header that asks for a call to go on in the background after some seconds.
final class BackgroundAfter {
    static final String TEMPLATE = "x-%s-background-after-secs";
    private static final BigDecimal MAX_SECONDS = BigDecimal.valueOf(3600);

    private final List<String> names;

    BackgroundAfter(BrandedHeader headers) {
        this.names = headers.names(TEMPLATE);
    }

    Optional<Duration> read(Headers headers) {
        var values = names.stream().flatMap(name -> headers.all(name).stream()).toList();
        return values.stream().map(this::parse).reduce((first, _) -> first);
    }

    private Duration parse(String value) {
        if (value.matches("[0-9]{1,30}(\\.[0-9]{1,30})?")) {
            var seconds = new BigDecimal(value);
            if (seconds.compareTo(MAX_SECONDS) <= 0) {
                return Duration.ofMillis(seconds.movePointRight(3).longValue());
            }
        }
        throw new Failure(
                Code.BAD_REQUEST,
                "%s must be a decimal number of seconds from 0 to %s"
                        .formatted(names.getFirst(), MAX_SECONDS));
    }
}
