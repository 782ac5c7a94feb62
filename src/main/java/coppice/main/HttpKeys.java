package coppice.main;

import coppice.api.ApiSettings;
import coppice.api.CallRate;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The keys of the configuration that are about the API.
final class HttpKeys {
    /// As a browser sends it.
    private static final Pattern ORIGIN = Pattern.compile("https?://[a-z0-9.:\\[\\]-]+");

    private HttpKeys() {}

    static ApiSettings api(Settings settings) {
        var usual = ApiSettings.at(URI.create(settings.baseUrl()));
        return new ApiSettings(
                usual.baseUrl(),
                settings.brand().text(),
                usual.deprecatedSince(),
                usual.maxJson(),
                usual.maxJsonAtOnce(),
                usual.bodyTime(),
                origins(settings),
                rate(settings));
    }

    static void check(Settings settings) {
        origins(settings);
        rate(settings);
    }

    private static List<String> origins(Settings settings) {
        return settings.optional(
                        "http.origins",
                        HttpKeys::origins,
                        "* or origins such as https://app.example.com, with commas between")
                .orElse(List.of());
    }

    private static List<String> origins(String text) {
        var origins = Arrays.stream(text.split(",")).map(String::strip).toList();
        if (!origins.equals(List.of("*"))
                && !origins.stream().allMatch(it -> ORIGIN.matcher(it).matches())) {
            throw new IllegalArgumentException("not an origin");
        }
        return origins;
    }

    private static Optional<CallRate> rate(Settings settings) {
        return settings.optional(
                "api.rate",
                text -> {
                    var numbers = Forms.numbers(text, 2);
                    return new CallRate(numbers.get(0), numbers.get(1));
                },
                "two numbers such as 50/200: calls a second, and at once");
    }
}
