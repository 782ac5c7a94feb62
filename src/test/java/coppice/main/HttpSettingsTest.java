package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.api.CallRate;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What can be set of how the API is spoken.
class HttpSettingsTest {
    @TempDir private Path directory;
    private Path file;

    @BeforeEach
    void make() throws IOException {
        file = Files.createFile(directory.resolve("coppice.conf"));
    }

    @ParameterizedTest
    @CsvSource({
        "http.origins, app.example.com",
        "http.origins, https://a.example.com/path",
        "http.origins, '*,https://a.example.com'",
        "api.rate, 50",
        "api.rate, 0/10",
        "api.rate, 10/0",
        "api.rate, fast",
        "http.proxies, proxy.example.com",
        "http.proxies, 10.0.0.0/8",
        "http.proxies, '10.0.0.1,'"
    })
    void aValueThatCannotBeReadIsAMistakeThatNamesItsKey(String key, String value) {
        var mistakes = GivenSettings.mistakes(new GivenSettings(file).read(key, value));
        assertEquals(1, mistakes.size(), mistakes.toString());
        assertTrue(mistakes.getFirst().startsWith(key + ": must be "), mistakes.toString());
    }

    @Test
    void originsAndTheRateAreRead() throws IOException {
        var given = new GivenSettings(file);
        assertEquals(List.of("*"), HttpKeys.api(given.read()).origins());
        assertEquals(Optional.empty(), HttpKeys.api(given.read()).rate());
        Files.writeString(
                file,
                "http.origins = https://a.example.com, http://[::1]:3000\napi.rate = 50/200\n");
        var read = HttpKeys.api(given.read());
        assertEquals(List.of("https://a.example.com", "http://[::1]:3000"), read.origins());
        assertEquals(Optional.of(new CallRate(50, 200)), read.rate());
        assertEquals(List.of(), HttpKeys.api(given.read("http.origins", "")).origins());
    }

    @Test
    void proxiesAreAddresses() {
        var given = new GivenSettings(file);
        assertEquals(Set.of(), HttpKeys.proxies(given.read()));
        assertEquals(
                Set.of(InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("2001:db8::1")),
                HttpKeys.proxies(given.read("http.proxies", "127.0.0.1, 2001:db8::1")));
    }

    @Test
    void aCertificateComesWithItsKeyAndMakesTheBaseUrlASecureOne() throws IOException {
        var given = new GivenSettings(file);
        assertEquals(Optional.empty(), HttpKeys.tls(given.read()));
        var alone = GivenSettings.mistakes(given.read("http.certificate", "/a.pem"));
        assertTrue(alone.getFirst().startsWith("http.certificateKey: "), alone.toString());
        var without = GivenSettings.mistakes(given.read("http.certificateKey", "/b.pem"));
        assertTrue(without.getFirst().startsWith("http.certificate: "), without.toString());
        Files.writeString(file, "http.certificate = /a.pem\nhttp.certificateKey = /b.pem\n");
        given.read().check();
        assertEquals(Path.of("/b.pem"), HttpKeys.tls(given.read()).orElseThrow().key());
        assertEquals("https://127.0.0.1:7480", given.read().baseUrl());
    }
}
