package coppice.network;

import static coppice.network.GivenTunnels.in;
import static coppice.network.GivenTunnels.wanted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Slug;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TunnelRecordsTest {
    @TempDir private Path directory;
    private GivenTunnels given;

    @BeforeEach
    void open() {
        given = new GivenTunnels(directory);
        given.network("backend", "10.20.30.0/24");
        given.network("other", "10.20.31.0/24");
    }

    @AfterEach
    void close() {
        given.close();
    }

    @Test
    void aStoreThatIsOpenedAgainHasTheSameTunnels() {
        var tunnels = given.tunnels();
        var exit =
                new NewAttachment(
                        "",
                        "other",
                        new Wanted.None(),
                        new Wanted.Any(),
                        GivenTunnels.ranges("10.20.31.128/25", "fd99::/64"),
                        true);
        tunnels.create(given.ada(), wanted("office", in("backend"), exit));
        given.tunnel(given.bob(), "his");
        given.tunnel("bare");
        given.pass(Duration.ofMinutes(1));
        tunnels.update(
                given.ada(),
                "bare",
                t -> t.with(Optional.of(new Slug("renamed")), Optional.of("Bäre \" ' ; --")));
        tunnels.attach(given.ada(), "renamed", in("backend", "10.99.0.0/16"));
        tunnels.rotateKey(given.ada(), "office", Optional.empty());
        tunnels.update(given.bob(), "his", t -> t.with(Optional.empty(), Optional.empty()));
        var ada = given.networks().of(given.ada());
        var bob = given.networks().of(given.bob());
        given.reopen();
        assertEquals(ada, given.networks().of(given.ada()));
        assertEquals(bob, given.networks().of(given.bob()));
        given.tunnels().detach(given.ada(), "office", "backend");
        given.tunnels().delete(given.ada(), "renamed");
        var after = given.networks().of(given.ada());
        given.reopen();
        assertEquals(after, given.networks().of(given.ada()));
        var numbers =
                Stream.of(given.ada(), given.bob())
                        .flatMap(account -> given.tunnels().list(account).stream())
                        .map(Tunnel::number)
                        .collect(Collectors.toSet());
        assertEquals(2, numbers.size());
        assertTrue(numbers.add(given.tunnel("next").number()));
    }

    @Test
    void aPrivateKeyIsInNoFile() throws IOException {
        var issued = given.tunnels().create(given.ada(), wanted("office"));
        var first = issued.privateKey().orElseThrow().reveal();
        var rotated = given.tunnels().rotateKey(given.ada(), "office", Optional.empty());
        var second = rotated.privateKey().orElseThrow().reveal();
        var publicKey = rotated.tunnel().clientKey().text();
        given.close();
        var store = new StringBuilder();
        try (var files = Files.list(directory)) {
            for (var file : files.toList()) {
                store.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        assertTrue(store.indexOf(publicKey) >= 0, "the public key is not where it is looked for");
        for (var secret : List.of(first, second)) {
            var bytes = Base64.getDecoder().decode(secret);
            for (var form :
                    List.of(
                            secret,
                            HexFormat.of().formatHex(bytes),
                            new String(bytes, StandardCharsets.ISO_8859_1))) {
                assertTrue(store.indexOf(form) < 0, "a private key is in the store");
            }
        }
        given.reopen();
    }
}
