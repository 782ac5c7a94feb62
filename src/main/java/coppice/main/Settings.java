package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Secret;
import coppice.base.Size;
import coppice.base.Slug;
import coppice.network.TunnelSettings;
import coppice.vm.PoolLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/// The configuration: one file of `key = value` lines, over which the environment goes. Read once; all mistakes are reported together.
///
/// The key `http.port` is also the variable `COPPICE_HTTP_PORT`. Every key has a default, listed with its meaning in docs/configuration.md.
public final class Settings {
    /// Every key and its default. An empty default is explained in docs/configuration.md.
    static final Map<String, String> DEFAULTS = defaults();

    /// Keys whose values stand in no message.
    private static final Set<String> SECRETS = Set.of("metrics.token");

    private static final String VARIABLE = "COPPICE_";

    /// Variables without a key: of the `coppice` script, of the log, and of `images/build`.
    private static final Set<String> OTHER_VARIABLES =
            Set.of("COPPICE_HOME", "COPPICE_CONFIG", "COPPICE_LOG_LEVEL", "COPPICE_CACHE");

    private static final Path FILE = Path.of("/etc/coppice/coppice.conf");
    private final Map<String, String> values;
    private final Set<String> mistakes = new LinkedHashSet<>();

    private Settings(Map<String, String> values) {
        this.values = values;
    }

    private static Map<String, String> defaults() {
        var keys = new LinkedHashMap<String, String>();
        keys.put("data.directory", "/var/lib/coppice");
        keys.put("data.volumeSize", "");
        keys.put("cache.directory", "/var/cache/coppice");
        keys.put("http.address", "127.0.0.1");
        keys.put("http.port", "7480");
        keys.put("http.baseUrl", "");
        keys.put("http.certificate", "");
        keys.put("http.certificateKey", "");
        keys.put("http.origins", "*");
        keys.put("http.proxies", "");
        keys.put("api.brand", "svc");
        keys.put("api.rate", "");
        keys.put("images", "busybox,debian");
        keys.put("image.default", "debian");
        keys.put("image.aliases", "ubuntu=debian");
        keys.put("image.busybox", "1/128/1000");
        keys.put("image.busybox.ceiling", "4/2048");
        keys.put("image.debian", "4/8192/32000");
        keys.put("image.debian.ceiling", "8/32768");
        keys.put("node.memoryOvercommit", "4");
        keys.put("node.memoryReserve", "512");
        keys.put("node.diskReserve", "1024");
        keys.put("node.startsAtOnce", "4");
        keys.put("node.firstUser", "700000");
        keys.put("pool.size", "2");
        keys.put("pool.window", "600");
        keys.put("vm.startTimeout", "120");
        keys.put("vm.pauseTimeout", "600");
        keys.put("vm.powerOffTimeout", "30");
        keys.put("vm.timerInterval", "1");
        keys.put("vm.maxRunning", "");
        keys.put("vm.maxTotal", "");
        keys.put("snapshot.maxTotal", "");
        NetworkKeys.putDefaults(keys);
        SshKeys.putDefaults(keys);
        keys.put("metrics.token", "");
        return java.util.Collections.unmodifiableMap(keys);
    }

    /// Reads `COPPICE_CONFIG`, or /etc/coppice/coppice.conf where there is one, and the environment.
    public static Settings read(Map<String, String> environment) {
        var values = new LinkedHashMap<>(DEFAULTS);
        var settings = new Settings(values);
        var named = Optional.ofNullable(environment.get("COPPICE_CONFIG")).map(Path::of);
        named.or(() -> Files.exists(FILE) ? Optional.of(FILE) : Optional.empty())
                .ifPresent(settings::readFile);
        settings.readVariables(environment);
        return settings;
    }

    private void readVariables(Map<String, String> environment) {
        var unknown = new TreeSet<String>();
        environment.keySet().stream()
                .filter(name -> name.startsWith(VARIABLE))
                .forEach(unknown::add);
        unknown.removeAll(OTHER_VARIABLES);
        for (var key : DEFAULTS.keySet()) {
            if (unknown.remove(variable(key))) {
                values.put(key, environment.get(variable(key)).strip());
            }
        }
        unknown.forEach(
                name ->
                        mistakes.add(
                                "%s: no such variable; see docs/configuration.md".formatted(name)));
    }

    static String variable(String key) {
        return VARIABLE
                + key.replaceAll("([A-Z])", "_$1")
                        .replace('.', '_')
                        .toUpperCase(java.util.Locale.ROOT);
    }

    private void readFile(Path file) {
        var read = new Properties();
        try (var in = Files.newBufferedReader(file)) {
            read.load(in);
        } catch (IOException | IllegalArgumentException e) {
            throw new Failure(
                    Code.BAD_REQUEST, "the configuration %s cannot be read".formatted(file), e);
        }
        for (var key : new TreeSet<>(read.stringPropertyNames())) {
            if (DEFAULTS.containsKey(key)) {
                values.put(key, read.getProperty(key).strip());
            } else {
                mistakes.add("%s: no such key; see docs/configuration.md".formatted(key));
            }
        }
    }

    /// How large a guest image's VMs are, and how far they can grow while they run.
    public record ImageSize(int cpu, Size memory, Size storage, int maxCpu, Size maxMemory) {}

    /// A value as it is used, in words.
    String text(String key) {
        if (!DEFAULTS.containsKey(key)) {
            throw new Failure(
                    Code.BAD_REQUEST, "%s: no such key; see docs/configuration.md".formatted(key));
        }
        return key.equals("http.baseUrl") ? baseUrl() : values.get(key);
    }

    public Path dataDirectory() {
        return path("data.directory");
    }

    public Path cacheDirectory() {
        return path("cache.directory");
    }

    public Optional<Size> volumeSize() {
        return optional(
                "data.volumeSize",
                text -> Size.ofMib(Forms.whole(text, 4096, Long.MAX_VALUE)),
                "a number of MiB, at least 4096");
    }

    public String httpAddress() {
        return parse("http.address", Forms::address, "an IP address or a host name");
    }

    public int httpPort() {
        return parse("http.port", text -> (int) Forms.whole(text, 0, 65_535), "a port number");
    }

    /// What clients put in front of paths.
    public String baseUrl() {
        var given = values.get("http.baseUrl");
        if (!given.isEmpty()) {
            return given.replaceAll("/+$", "");
        }
        var address = httpAddress();
        return "%s://%s:%d"
                .formatted(
                        values.get("http.certificate").isEmpty() ? "http" : "https",
                        address.contains(":") ? "[" + address + "]" : address,
                        httpPort());
    }

    public Slug brand() {
        return parse("api.brand", Forms::word, "lower-case letters and digits, a letter first");
    }

    public List<String> images() {
        return Stream.of(values.get("images").split(" *, *")).distinct().toList();
    }

    public Slug defaultImage() {
        return parse("image.default", Slug::new, "a slug");
    }

    /// Further names of images. The default's are left out where their image is.
    public Map<Slug, Slug> imageAliases() {
        var aliases =
                parse(
                        "image.aliases",
                        Forms::aliases,
                        "pairs such as ubuntu=debian, separated by commas");
        if (isDefault("image.aliases")) {
            aliases.values().removeIf(image -> !images().contains(image.text()));
        }
        return aliases;
    }

    public ImageSize imageSize(String image) {
        var size = numbers("image." + image, 3, "cpu/memory/storage, memory and storage in MiB");
        var ceiling = numbers("image." + image + ".ceiling", 2, "cpu/memory, memory in MiB");
        return new ImageSize(
                Math.toIntExact(size.get(0)),
                Size.ofMib(size.get(1)),
                Size.ofMib(size.get(2)),
                Math.toIntExact(ceiling.get(0)),
                Size.ofMib(ceiling.get(1)));
    }

    private List<Long> numbers(String key, int count, String form) {
        return parse(key, text -> Forms.numbers(text, count), form);
    }

    public coppice.node.Capacity capacity() {
        return new coppice.node.Capacity(
                parse("node.memoryOvercommit", Forms::factor, "a number above 0"),
                mib("node.memoryReserve"),
                mib("node.diskReserve"),
                parse("node.startsAtOnce", text -> Forms.count(text, 1), "a number, at least 1"),
                parse("node.firstUser", Forms::firstUser, "a user number, not root's"));
    }

    public coppice.vm.VmLimits vmLimits() {
        return new coppice.vm.VmLimits(
                seconds("vm.startTimeout"),
                seconds("vm.pauseTimeout"),
                seconds("vm.powerOffTimeout"),
                optional("vm.maxRunning", text -> Forms.count(text, 0), "a number"),
                optional("vm.maxTotal", text -> Forms.count(text, 0), "a number"),
                optional("snapshot.maxTotal", text -> Forms.count(text, 0), "a number"),
                new PoolLimits(
                        parse("pool.size", text -> Forms.count(text, 0), "a number"),
                        seconds("pool.window")));
    }

    /// How often the timers of VMs are looked at.
    public Duration timerInterval() {
        return parse(
                "vm.timerInterval",
                text -> Duration.ofSeconds(Forms.whole(text, 1, 5)),
                "a number of seconds, 1 to 5");
    }

    public TunnelSettings tunnels() {
        var host = optional("tunnel.host", Forms::address, "an IP address or a host name");
        return parse(
                "tunnel.ports",
                text -> Forms.tunnels(host, text),
                "two ports from 1 to 65535, such as 51820-52843, the first not above the second");
    }

    /// What a scraper of the metrics must send. Empty: there are none.
    public Optional<Secret> metricsToken() {
        return optional(
                "metrics.token",
                text -> new Secret(Forms.token(text)),
                "at least 16 characters, none of them a space");
    }

    /// Reads everything once, and throws with all mistakes together when there are any.
    void check() {
        dataDirectory();
        cacheDirectory();
        volumeSize();
        httpAddress();
        httpPort();
        parse("http.baseUrl", Forms::webAddress, "an absolute http or https URL");
        brand();
        capacity();
        vmLimits();
        timerInterval();
        tunnels();
        metricsToken();
        HttpKeys.check(this);
        NetworkKeys.limits(this);
        NetworkKeys.fabric(this, "");
        NetworkKeys.egress(this);
        NetworkKeys.resolver(this);
        SshKeys.ssh(this);
        checkImages();
        if (!mistakes.isEmpty()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the configuration has mistakes:\n  " + String.join("\n  ", mistakes));
        }
    }

    private void checkImages() {
        for (var image : List.of("busybox", "debian")) {
            var size = imageSize(image);
            if (size.maxCpu() < size.cpu() || size.maxMemory().compareTo(size.memory()) < 0) {
                var key = "image.%s.ceiling".formatted(image);
                mistakes.add(
                        "%s: must be at least the cores and memory of image.%s, not '%s'"
                                .formatted(key, image, values.get(key)));
            }
        }
        var unknown = images().stream().filter(i -> !DEFAULTS.containsKey("image." + i)).toList();
        unknown.forEach(
                image ->
                        mistakes.add(
                                "images: there is no guest image '%s'; there are busybox and debian"
                                        .formatted(image)));
        var fallback = defaultImage();
        var aliases = imageAliases();
        if (unknown.isEmpty()) {
            checkOffered("image.default", fallback);
            aliases.values().forEach(image -> checkOffered("image.aliases", image));
        }
    }

    private void checkOffered(String key, Slug image) {
        if (!images().contains(image.text())) {
            mistakes.add("%s: '%s' is not one of images".formatted(key, image));
        }
    }

    private boolean isDefault(String key) {
        return values.get(key).equals(DEFAULTS.get(key));
    }

    private Path path(String key) {
        return parse(key, Forms::path, "a path");
    }

    private Size mib(String key) {
        return parse(key, text -> Size.ofMib(Long.parseLong(text)), "a number of MiB");
    }

    private Duration seconds(String key) {
        return parse(
                key,
                text -> Duration.ofSeconds(Forms.count(text, 1)),
                "a number of seconds, at least 1");
    }

    /// Empty is absent.
    <T> Optional<T> optional(String key, Function<String, T> read, String form) {
        return parse(
                key,
                text -> text.isEmpty() ? Optional.empty() : Optional.of(read.apply(text)),
                form);
    }

    /// Reads a value; one that cannot be read counts as a mistake and the default is taken meanwhile.
    <T> T parse(String key, Function<String, T> read, String form) {
        try {
            return read.apply(values.get(key));
        } catch (RuntimeException e) {
            mistake(key, form);
            return read.apply(DEFAULTS.get(key));
        }
    }

    /// Counts the value as one that cannot be used.
    void mistake(String key, String form) {
        var shown = SECRETS.contains(key) ? "what is set" : "'%s'".formatted(values.get(key));
        mistakes.add("%s: must be %s, not %s".formatted(key, form, shown));
    }
}
