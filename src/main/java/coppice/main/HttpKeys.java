package coppice.main;

import coppice.api.ApiSettings;
import coppice.api.CallRate;
import coppice.http.Tls;
import java.net.InetAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The keys of the configuration that are about the API.
final class HttpKeys {
    /// As a browser sends it.
    private static final Pattern ORIGIN = Pattern.compile("https?://[a-z0-9.:\\[\\]-]+");

    private static final String CHAIN = "http.certificate";
    private static final String KEY = "http.certificateKey";
    private static final String FORM = "a path, set with the other of certificate and key";

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
        tls(settings);
        origins(settings);
        rate(settings);
        proxies(settings);
    }

    /// Whose `X-Forwarded-For` is believed.
    static Set<InetAddress> proxies(Settings settings) {
        return settings.optional(
                        "http.proxies",
                        text ->
                                Arrays.stream(text.split(",", -1))
                                        .map(it -> InetAddress.ofLiteral(it.strip()))
                                        .collect(Collectors.toSet()),
                        "IP addresses, with commas between")
                .orElse(Set.of());
    }

    /// Absent: the API is spoken in clear text.
    static Optional<Tls> tls(Settings settings) {
        var chain = settings.optional(CHAIN, Forms::path, FORM);
        var key = settings.optional(KEY, Forms::path, FORM);
        if (chain.isPresent() != key.isPresent()) {
            settings.mistake(chain.isPresent() ? KEY : CHAIN, FORM);
        }
        return chain.flatMap(file -> key.map(it -> new Tls(file, it)));
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
