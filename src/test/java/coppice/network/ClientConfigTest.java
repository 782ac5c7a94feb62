package coppice.network;

import static org.junit.jupiter.api.Assertions.assertEquals;

import coppice.base.Cidr;
import coppice.base.Secret;
import coppice.identity.AccountId;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ClientConfigTest {
    private static final String BORDER = "---\n";
    private static final int FIRST_PORT = 51_820;

    /// A file of `src/test/resources/coppice/network`: of what tunnel, `---`, and its client's whole configuration.
    private record Golden(String name, Map<String, String> input, String expected) {
        static Golden read(Path file) {
            try {
                var text = Files.readString(file);
                int border = text.indexOf(BORDER);
                var input =
                        text.substring(0, border)
                                .lines()
                                .map(line -> line.split(": ", 2))
                                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
                return new Golden(
                        file.getFileName().toString(),
                        input,
                        text.substring(border + BORDER.length()));
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        Tunnel tunnel() {
            return new Tunnel(
                    TunnelId.random(),
                    AccountId.random(),
                    Integer.parseInt(input.get("number")),
                    Optional.empty(),
                    Optional.empty(),
                    KeyPair.random().publicKey(),
                    Stream.of(input.get("routes").split(" ")).map(Cidr::stored).toList(),
                    List.of(),
                    Instant.EPOCH,
                    Instant.EPOCH);
        }

        Endpoint endpoint() {
            return new Endpoint(
                    Optional.ofNullable(input.get("host")),
                    FIRST_PORT + tunnel().number(),
                    new PublicKey(input.get("server key")));
        }

        Optional<Secret> privateKey() {
            return Optional.ofNullable(input.get("private key")).map(Secret::new);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Golden> golden() throws IOException, URISyntaxException {
        var directory =
                Path.of(ClientConfigTest.class.getResource("config-given-key.golden").toURI())
                        .getParent();
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().matches("config-.*\\.golden"))
                    .sorted()
                    .map(Golden::read)
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("golden")
    void theConfigurationIsThatOfTheGoldenFile(Golden golden) {
        assertEquals(
                golden.expected(),
                ClientConfig.text(golden.tunnel(), golden.endpoint(), golden.privateKey()));
    }
}
