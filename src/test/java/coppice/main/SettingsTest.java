package coppice.main;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.network.TunnelSettings;
import coppice.node.Capacity;
import coppice.vm.VmLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
    private static final Path REFERENCE = Path.of("docs/configuration.md");

    @TempDir private Path directory;
    private Path file;

    /// A row of the reference.
    private record Documented(String key, String variable, String value) {}

    @BeforeEach
    void anEmptyFileStandsForTheOneOfThisMachine() throws IOException {
        file = Files.createFile(directory.resolve("coppice.conf"));
    }

    @Test
    void theReferenceHasEveryKeyWithItsVariableAndDefault() throws IOException {
        var known =
                Settings.DEFAULTS.entrySet().stream()
                        .map(
                                entry ->
                                        new Documented(
                                                entry.getKey(),
                                                Settings.variable(entry.getKey()),
                                                entry.getValue()))
                        .toList();
        assertEquals(List.of(), without(known, documented()), "missing in " + REFERENCE);
        assertEquals(List.of(), without(documented(), known), "only in " + REFERENCE);
    }

    @Test
    void theReferenceSaysWhatEveryKeyMeansAndInWhichUnit() throws IOException {
        for (var cells : rows()) {
            assertEquals(5, cells.size(), cells.toString());
            assertTrue(cells.stream().noneMatch(String::isEmpty), cells.toString());
        }
    }

    @Test
    void noTwoKeysHaveOneVariable() {
        var variables = Settings.DEFAULTS.keySet().stream().map(Settings::variable).toList();
        assertEquals(variables, variables.stream().distinct().toList());
    }

    @Test
    void aWordInsideAKeyBeginsANewWordOfTheVariable() {
        assertEquals("COPPICE_HTTP_BASE_URL", Settings.variable("http.baseUrl"));
        assertEquals("COPPICE_IMAGES", Settings.variable("images"));
    }

    @Test
    void theDefaultsHaveNoMistake() {
        given().read().check();
    }

    @Test
    void theDefaultsAreRead() {
        var settings = given().read();
        assertEquals(Path.of("/var/lib/coppice"), settings.dataDirectory());
        assertEquals(Path.of("/var/cache/coppice"), settings.cacheDirectory());
        assertEquals(Optional.empty(), settings.volumeSize());
        assertEquals("127.0.0.1", settings.httpAddress());
        assertEquals(7480, settings.httpPort());
        assertEquals(new Slug("svc"), settings.brand());
        assertEquals(List.of("busybox", "debian"), settings.images());
        assertEquals(new Slug("debian"), settings.defaultImage());
        assertEquals(Map.of(new Slug("ubuntu"), new Slug("debian")), settings.imageAliases());
        assertEquals(
                new Capacity(4, Size.ofMib(512), Size.ofMib(1024), 4, 700_000),
                settings.capacity());
        assertEquals(
                new VmLimits(
                        Duration.ofSeconds(120),
                        Duration.ofSeconds(600),
                        Duration.ofSeconds(30),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        new coppice.vm.PoolLimits(2, Duration.ofSeconds(600))),
                settings.vmLimits());
        assertEquals(Duration.ofSeconds(1), settings.timerInterval());
        assertEquals(new TunnelSettings(Optional.empty(), 51_820, 1024), settings.tunnels());
    }

    @ParameterizedTest
    @MethodSource("keys")
    void everyKeyIsReadFromTheFile(String key) throws IOException {
        Files.writeString(file, "# a comment\n\n%s =  from-file \n".formatted(key));
        assertEquals("from-file", given().read().text(key));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void theEnvironmentGoesOverTheFile(String key) throws IOException {
        Files.writeString(file, key + " = from-file\n");
        assertEquals("from-environment", given().read(key, " from-environment ").text(key));
    }

    @Test
    void anEmptyVariableIsAnEmptyValue() throws IOException {
        Files.writeString(file, "vm.maxTotal = 7\n");
        assertEquals(Optional.of(7), given().read().vmLimits().allVms());
        assertEquals(Optional.empty(), given().read("vm.maxTotal", "").vmLimits().allVms());
    }

    @Test
    void aFileThatIsNamedMustExist() {
        var missing = directory.resolve("missing.conf");
        var environment = Map.of("COPPICE_CONFIG", missing.toString());
        var failure = assertThrows(Failure.class, () -> Settings.read(environment));
        assertTrue(failure.getMessage().contains(missing.toString()), failure.getMessage());
    }

    @Test
    void aKeyThatDoesNotExistIsAMistake() throws IOException {
        Files.writeString(file, "http.prot = 80\n");
        assertEquals(
                List.of("http.prot: no such key; see docs/configuration.md"),
                GivenSettings.mistakes(given().read()));
        var failure = assertThrows(Failure.class, () -> given().read().text("http.prot"));
        assertEquals(Code.BAD_REQUEST, failure.code());
    }

    @Test
    void allMistakesAreReportedTogether() throws IOException {
        Files.writeString(file, "http.prot = 80\nhttp.port = eighty\n");
        assertEquals(
                List.of(
                        "http.prot: no such key; see docs/configuration.md",
                        "http.port: must be a port number, not 'eighty'",
                        "vm.startTimeout: must be a number of seconds, at least 1, not '2m'"),
                GivenSettings.mistakes(given().read("vm.startTimeout", "2m")));
    }

    @ParameterizedTest
    @CsvSource({
        "data.directory, 'a\0b'",
        "cache.directory, 'a\0b'",
        "data.directory, ''",
        "data.volumeSize, 8G",
        "data.volumeSize, 4095",
        "data.volumeSize, 99999999999999",
        "http.address, ''",
        "http.address, 300.1.1.1",
        "http.address, -a.test",
        "http.address, a b",
        "http.address, '1::2::3'",
        "http.port, http",
        "http.port, 65536",
        "http.port, -1",
        "http.baseUrl, api.test",
        "http.baseUrl, /v5",
        "http.baseUrl, ftp://api.test",
        "http.baseUrl, 'https://'",
        "http.baseUrl, 'https://a b'",
        "http.baseUrl, 'https://api.test?a=b'",
        "http.baseUrl, 'https://user@api.test'",
        "api.brand, My Brand",
        "api.brand, my-brand",
        "image.default, Debian!",
        "image.aliases, ubuntu",
        "image.aliases, ubuntu=debian=busybox",
        "image.aliases, 'a=debian,a=busybox'",
        "image.busybox, 99999999999/128/1000",
        "image.busybox, 1/99999999999/1000",
        "image.busybox, 1/128/1000/",
        "image.busybox, 1/128",
        "image.busybox.ceiling, 4/2048/1",
        "image.debian, 4/8192/x",
        "image.debian.ceiling, 0/1",
        "node.memoryOvercommit, much",
        "node.memoryOvercommit, 0",
        "node.memoryOvercommit, NaN",
        "node.memoryOvercommit, Infinity",
        "node.memoryReserve, -1",
        "node.diskReserve, 1.5",
        "node.startsAtOnce, ''",
        "node.startsAtOnce, 0",
        "node.startsAtOnce, 2147483648",
        "node.firstUser, root",
        "node.firstUser, 0",
        "node.firstUser, 2147483647",
        "vm.startTimeout, 2m",
        "vm.pauseTimeout, ''",
        "vm.powerOffTimeout, soon",
        "vm.startTimeout, 0",
        "vm.powerOffTimeout, -1",
        "vm.maxRunning, many",
        "vm.maxRunning, -1",
        "vm.maxTotal, many",
        "vm.maxTotal, 2147483648",
        "snapshot.maxTotal, many",
        "tunnel.host, a b",
        "tunnel.host, 300.1.1.1",
        "tunnel.ports, ''",
        "tunnel.ports, 51820",
        "tunnel.ports, 51820-",
        "tunnel.ports, -51820",
        "tunnel.ports, 51820-51819",
        "tunnel.ports, 0-10",
        "tunnel.ports, 65535-65536",
        "tunnel.ports, 51820-99999999999",
        "tunnel.ports, 1-2-3",
        "tunnel.ports, first-last"
    })
    void aValueThatCannotBeReadIsAMistakeThatNamesItsKey(String key, String value) {
        var mistakes = GivenSettings.mistakes(given().read(key, value));
        assertEquals(1, mistakes.size(), mistakes.toString());
        assertTrue(mistakes.getFirst().startsWith(key + ": must be "), mistakes.toString());
        assertTrue(mistakes.getFirst().endsWith(", not '%s'".formatted(value)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"too-short", "has a space in its middle", "not-äscii-whatever-it-is"})
    void aTokenThatIsNoneIsAMistakeThatDoesNotShowIt(String token) {
        assertEquals(
                List.of(
                        "metrics.token: must be at least 16 characters, none of them a space,"
                                + " not what is set"),
                GivenSettings.mistakes(given().read("metrics.token", token)));
    }

    @Test
    void theTokenOfTheMetricsIsASecret() {
        assertEquals(Optional.empty(), given().read().metricsToken());
        var token = given().read("metrics.token", "0123456789abcdef").metricsToken().orElseThrow();
        assertEquals("0123456789abcdef", token.reveal());
        assertEquals("***", token.toString());
    }

    @ParameterizedTest
    @CsvSource({"1-65535, 1, 65535", "51820-51820, 51820, 1", "65535-65535, 65535, 1"})
    void thePortsOfTunnelsAreCountedFromTheFirstToTheLast(String text, int first, int ports) {
        assertEquals(
                new TunnelSettings(Optional.empty(), first, ports),
                given().read("tunnel.ports", text).tunnels());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tunnel.example.test", "203.0.113.7", "2001:db8::1"})
    void theHostOfTunnelsIsANumberOrAName(String host) {
        var settings = given().read("tunnel.host", host);
        settings.check();
        assertEquals(Optional.of(host), settings.tunnels().host());
    }

    @Test
    void theBaseUrlIsMadeOfAddressAndPort() throws IOException {
        Files.writeString(file, "http.address = 10.0.0.7\nhttp.port = 80\n");
        assertEquals("http://10.0.0.7:80", given().read().baseUrl());
        assertEquals("http://10.0.0.7:80", given().read().text("http.baseUrl"));
    }

    @Test
    void anAddressWithColonsStandsInBracketsInTheBaseUrl() {
        assertEquals("http://[::1]:7480", given().read("http.address", "::1").baseUrl());
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "0.0.0.0", "::", "fe80::1", "localhost", "node-1.lan"})
    void anAddressIsANumberOrAName(String address) {
        var settings = given().read("http.address", address);
        settings.check();
        assertEquals(address, settings.httpAddress());
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://10.0.0.7:80", "https://api.test/coppice", "HTTPS://[::1]:7480"})
    void theBaseUrlIsAnAbsoluteWebAddress(String url) {
        var settings = given().read("http.baseUrl", url);
        settings.check();
        assertEquals(url, settings.baseUrl());
    }

    @Test
    void aVariableThatDoesNotExistIsAMistake() {
        var environment =
                Map.of(
                        "COPPICE_CONFIG",
                        file.toString(),
                        "COPPICE_HTTP_PROT",
                        "80",
                        "HTTP_PORT",
                        "1");
        assertEquals(
                List.of("COPPICE_HTTP_PROT: no such variable; see docs/configuration.md"),
                GivenSettings.mistakes(Settings.read(environment)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"COPPICE_HOME", "COPPICE_LOG_LEVEL", "COPPICE_CACHE"})
    void aVariableWithoutAKeyIsNoMistake(String variable) {
        Settings.read(Map.of("COPPICE_CONFIG", file.toString(), variable, "x")).check();
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://api.test", "https://api.test/", "https://api.test//"})
    void theBaseUrlHasNoSlashAtItsEnd(String given) {
        assertEquals("https://api.test", given().read("http.baseUrl", given).baseUrl());
    }

    private static Stream<String> keys() {
        return Settings.DEFAULTS.keySet().stream();
    }

    private GivenSettings given() {
        return new GivenSettings(file);
    }

    private static List<Documented> without(List<Documented> rows, List<Documented> others) {
        return rows.stream().filter(row -> !others.contains(row)).toList();
    }

    private static List<Documented> documented() throws IOException {
        return rows().stream()
                .map(
                        cells ->
                                new Documented(
                                        code(cells.get(0)), code(cells.get(1)), code(cells.get(2))))
                .toList();
    }

    private static List<List<String>> rows() throws IOException {
        return Files.readAllLines(REFERENCE).stream()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.substring(1, line.length() - 1).split("\\|", -1))
                .map(cells -> Stream.of(cells).map(String::strip).toList())
                .toList();
    }

    private static String code(String cell) {
        return cell.equals("empty") ? "" : cell.replaceAll("^`|`$", "");
    }
}
