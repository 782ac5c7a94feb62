package coppice.main;

import coppice.base.Slug;
import coppice.network.TunnelSettings;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The forms that values of the configuration have. What does not have its form is refused with a `RuntimeException`; [Settings] knows
/// which key it was and says what the form is.
final class Forms {
    /// How many user numbers Coppice takes from `node.firstUser` on.
    private static final int USERS = 65_001;

    private static final Pattern WORD = Pattern.compile("[a-z][a-z0-9]*");
    private static final Pattern TOKEN = Pattern.compile("[!-~]{16,1000}");
    private static final Pattern HOST_NAME =
            Pattern.compile(
                    "([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?");

    private Forms() {}

    static Path path(String text) {
        require(!text.isEmpty(), text);
        return Path.of(text).toAbsolutePath().normalize();
    }

    static Slug word(String text) {
        require(WORD.matcher(text).matches(), text);
        return new Slug(text);
    }

    static String address(String text) {
        if (!HOST_NAME.matcher(text).matches()) {
            InetAddress.ofLiteral(text); // throws when it is none
        }
        return text;
    }

    /// Empty, or what can stand in front of the path of a request.
    static String webAddress(String text) {
        var url = URI.create(text);
        boolean isWeb =
                "http".equalsIgnoreCase(url.getScheme())
                        || "https".equalsIgnoreCase(url.getScheme());
        boolean hasMore =
                url.getRawQuery() != null
                        || url.getRawFragment() != null
                        || url.getRawUserInfo() != null;
        require(text.isEmpty() || (isWeb && url.getHost() != null && !hasMore), text);
        return text;
    }

    /// Pairs `name=image`, separated by commas.
    static Map<Slug, Slug> aliases(String text) {
        var aliases = new LinkedHashMap<Slug, Slug>();
        for (var pair : text.isEmpty() ? new String[0] : text.split(" *, *")) {
            var sides = pair.split(" *= *");
            require(sides.length == 2, pair);
            require(aliases.put(new Slug(sides[0]), new Slug(sides[1])) == null, pair);
        }
        return aliases;
    }

    /// So many positive numbers, separated by slashes. All fit an `int`, so that none overflows as a count or as MiB.
    static List<Long> numbers(String text, int howMany) {
        var numbers =
                Stream.of(text.split("/", -1))
                        .map(number -> whole(number, 1, Integer.MAX_VALUE))
                        .toList();
        require(numbers.size() == howMany, text);
        return numbers;
    }

    /// The first and the last UDP port.
    static TunnelSettings tunnels(Optional<String> host, String ports) {
        var ends = ports.split("-", -1);
        require(ends.length == 2, ports);
        int first = count(ends[0], 1);
        return new TunnelSettings(host, first, count(ends[1], first) - first + 1);
    }

    static double factor(String text) {
        double factor = Double.parseDouble(text);
        require(factor > 0 && factor < Double.POSITIVE_INFINITY, text);
        return factor;
    }

    static int firstUser(String text) {
        return (int) whole(text, 1, Integer.MAX_VALUE - USERS);
    }

    static int count(String text, int least) {
        return (int) whole(text, least, Integer.MAX_VALUE);
    }

    static long whole(String text, long least, long most) {
        long number = Long.parseLong(text);
        require(number >= least && number <= most, text);
        return number;
    }

    /// A secret that is sent in a header.
    static String token(String text) {
        require(TOKEN.matcher(text).matches(), "(secret)");
        return text;
    }

    private static void require(boolean hasForm, String text) {
        if (!hasForm) {
            throw new IllegalArgumentException(text);
        }
    }
}
