package coppice.main;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Size;
import coppice.base.Slug;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeSet;
import java.util.function.Function;

/// The configuration: one file of `key = value` lines, over which the environment goes. Read once; all mistakes are reported together.
///
/// The key `http.port` is also the variable `COPPICE_HTTP_PORT`. Every key has a default, listed with its meaning in docs/configuration.md.
public final class Settings {
    /// Every key and its default. An empty default is explained in docs/configuration.md.
    static final Map<String, String> DEFAULTS = defaults();

    private static final String VARIABLE = "COPPICE_";
    private static final Path FILE = Path.of("/etc/coppice/coppice.conf");

    private final Map<String, String> values;
    private final List<String> mistakes = new ArrayList<>();

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
        keys.put("api.brand", "svc");
        keys.put("images", "busybox,debian");
        keys.put("image.default", "debian");
        keys.put("image.aliases", "ubuntu=debian");
        keys.put("image.busybox", "1/128/1000");
        keys.put("image.busybox.ceiling", "4/2048");
        keys.put("image.debian", "4/8192/32000");
        keys.put("image.debian.ceiling", "16/32768");
        keys.put("node.memoryOvercommit", "4");
        keys.put("node.memoryReserve", "512");
        keys.put("node.diskReserve", "1024");
        keys.put("node.startsAtOnce", "4");
        keys.put("node.firstUser", "700000");
        keys.put("vm.startTimeout", "120");
        keys.put("vm.pauseTimeout", "600");
        keys.put("vm.powerOffTimeout", "30");
        keys.put("vm.maxRunning", "");
        keys.put("vm.maxTotal", "");
        return java.util.Collections.unmodifiableMap(keys);
    }

    /// Reads `COPPICE_CONFIG`, or /etc/coppice/coppice.conf where there is one, and the environment.
    public static Settings read(Map<String, String> environment) {
        var values = new LinkedHashMap<>(DEFAULTS);
        var settings = new Settings(values);
        var named = Optional.ofNullable(environment.get("COPPICE_CONFIG")).map(Path::of);
        named.or(() -> Files.exists(FILE) ? Optional.of(FILE) : Optional.empty())
                .ifPresent(settings::readFile);
        for (var key : DEFAULTS.keySet()) {
            var value = environment.get(variable(key));
            if (value != null) {
                values.put(key, value.strip());
            }
        }
        return settings;
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
                "data.volumeSize", text -> Size.ofMib(Long.parseLong(text)), "a number of MiB");
    }

    public String httpAddress() {
        return values.get("http.address");
    }

    public int httpPort() {
        return parse("http.port", Integer::parseInt, "a port number");
    }

    /// What clients put in front of paths.
    public String baseUrl() {
        var given = values.get("http.baseUrl");
        return given.isEmpty()
                ? "http://%s:%d".formatted(httpAddress(), httpPort())
                : given.replaceAll("/+$", "");
    }

    public Slug brand() {
        return parse("api.brand", Slug::new, "lower-case letters and digits");
    }

    public List<String> images() {
        return List.of(values.get("images").split(" *, *"));
    }

    public Slug defaultImage() {
        return parse("image.default", Slug::new, "a slug");
    }

    public Map<Slug, Slug> imageAliases() {
        return parse(
                "image.aliases",
                text -> {
                    var aliases = new LinkedHashMap<Slug, Slug>();
                    for (var pair : text.isEmpty() ? new String[0] : text.split(" *, *")) {
                        var sides = pair.split("=");
                        aliases.put(new Slug(sides[0]), new Slug(sides[1]));
                    }
                    return aliases;
                },
                "pairs such as ubuntu=debian, separated by commas");
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
        return parse(
                key,
                text -> {
                    var numbers =
                            java.util.Arrays.stream(text.split("/")).map(Long::parseLong).toList();
                    if (numbers.size() != count || numbers.stream().anyMatch(n -> n < 1)) {
                        throw new IllegalArgumentException(text);
                    }
                    return numbers;
                },
                form);
    }

    public coppice.node.Capacity capacity() {
        return new coppice.node.Capacity(
                parse("node.memoryOvercommit", Double::parseDouble, "a number"),
                mib("node.memoryReserve"),
                mib("node.diskReserve"),
                parse("node.startsAtOnce", Integer::parseInt, "a number"),
                parse("node.firstUser", Integer::parseInt, "a user number"));
    }

    public coppice.vm.VmLimits vmLimits() {
        return new coppice.vm.VmLimits(
                seconds("vm.startTimeout"),
                seconds("vm.pauseTimeout"),
                seconds("vm.powerOffTimeout"),
                optional("vm.maxRunning", Integer::parseInt, "a number"),
                optional("vm.maxTotal", Integer::parseInt, "a number"));
    }

    /// Reads everything once, and throws with all mistakes together when there are any.
    void check() {
        dataDirectory();
        cacheDirectory();
        volumeSize();
        httpPort();
        brand();
        defaultImage();
        imageAliases();
        capacity();
        vmLimits();
        for (var image : images()) {
            if (DEFAULTS.containsKey("image." + image)) {
                imageSize(image);
            } else {
                mistakes.add(
                        "images: there is no guest image '%s'; there are busybox and debian"
                                .formatted(image));
            }
        }
        if (!mistakes.isEmpty()) {
            throw new Failure(
                    Code.BAD_REQUEST,
                    "the configuration has mistakes:\n  " + String.join("\n  ", mistakes));
        }
    }

    private Path path(String key) {
        return parse(key, text -> Path.of(text).toAbsolutePath().normalize(), "a path");
    }

    private Size mib(String key) {
        return parse(key, text -> Size.ofMib(Long.parseLong(text)), "a number of MiB");
    }

    private Duration seconds(String key) {
        return parse(key, text -> Duration.ofSeconds(Long.parseLong(text)), "a number of seconds");
    }

    private <T> Optional<T> optional(String key, Function<String, T> read, String form) {
        return values.get(key).isEmpty() ? Optional.empty() : Optional.of(parse(key, read, form));
    }

    /// Reads a value; one that cannot be read counts as a mistake and the default is taken meanwhile.
    private <T> T parse(String key, Function<String, T> read, String form) {
        try {
            return read.apply(values.get(key));
        } catch (RuntimeException e) {
            mistakes.add("%s: must be %s, not '%s'".formatted(key, form, values.get(key)));
            return read.apply(DEFAULTS.get(key));
        }
    }
}
