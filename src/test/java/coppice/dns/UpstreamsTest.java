package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.base.Failure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpstreamsTest {
    private static final InetSocketAddress SELF = new InetSocketAddress("127.0.0.1", 53);

    @TempDir private Path directory;

    private Upstreams upstreams(InetSocketAddress... servers) {
        var usual = ResolverSettings.USUAL.forwarding();
        return new Upstreams(
                new ResolverSettings.Forwarding(
                        List.of(servers),
                        directory.resolve("resolv.conf"),
                        usual.attempt(),
                        usual.deadline(),
                        true),
                SELF);
    }

    private void write(String text) throws IOException {
        var next = Files.writeString(directory.resolve("next"), text);
        Files.move(next, directory.resolve("resolv.conf"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static InetSocketAddress server(String address) {
        return new InetSocketAddress(address, 53);
    }

    @Test
    void theServersOfTheHostAreThoseThatItsFileNames() throws IOException {
        write(
                """
                # nameserver 192.0.2.9
                search example.test
                nameserver 192.0.2.1
                  nameserver\t2001:db8::1   # the second
                nameserver 127.0.0.1
                nameserver 192.0.2.1
                nameserver resolver.example.test
                nameserver
                options edns0
                """);
        assertEquals(List.of(server("192.0.2.1"), server("2001:db8::1")), upstreams().servers());
    }

    @Test
    void theFileIsReadAgainWhenItHasChanged() throws IOException {
        write("nameserver 192.0.2.1\n");
        var upstreams = upstreams();
        assertEquals(List.of(server("192.0.2.1")), upstreams.servers());
        write("nameserver 192.0.2.22\n");
        assertEquals(List.of(server("192.0.2.22")), upstreams.servers());
    }

    @Test
    void whileTheFileIsMissingTheServersOfBeforeAreAsked() throws IOException {
        write("nameserver 192.0.2.1\n");
        var upstreams = upstreams();
        Files.delete(directory.resolve("resolv.conf"));
        assertEquals(List.of(server("192.0.2.1")), upstreams.servers());
    }

    @Test
    void withoutAFileThereAreNone() {
        assertEquals(List.of(), upstreams().servers());
    }

    @Test
    void serversThatAreSetAreAskedInsteadOfThoseOfTheHost() throws IOException {
        write("nameserver 192.0.2.1\n");
        assertEquals(List.of(server("192.0.2.7")), upstreams(server("192.0.2.7")).servers());
    }

    @Test
    void theOneThatAnsweredComesFirst() {
        var upstreams = upstreams(server("192.0.2.1"), server("192.0.2.2"), server("192.0.2.3"));
        upstreams.prefer(server("192.0.2.3"));
        assertEquals(
                List.of(server("192.0.2.3"), server("192.0.2.1"), server("192.0.2.2")),
                upstreams.servers());
        upstreams.prefer(server("192.0.2.44"));
        assertEquals(server("192.0.2.1"), upstreams.servers().getFirst());
    }

    @Test
    void theUsualSettingsAreThoseThatAreDocumented() {
        var usual = ResolverSettings.USUAL;
        assertEquals(Path.of("/etc/resolv.conf"), usual.forwarding().resolvConf());
        assertEquals(Duration.ofSeconds(5), usual.forwarding().deadline());
        assertTrue(usual.forwarding().stripsPrivateAddresses());
        assertEquals(new ResolverSettings.PerClient(200, 1000, 64, 8), usual.perClient());
        assertEquals(new ResolverSettings.InAll(4096, 1024, 256), usual.inAll());
        assertEquals(Duration.ofSeconds(10), usual.idleTime());
    }

    @Test
    void aPortThatIsTakenIsSaid() {
        var names = new GivenNames();
        var clock = InstantSource.system();
        var any = new InetSocketAddress("127.0.0.1", 0);
        try (var first = Resolver.start(any, ResolverSettings.USUAL, names, clock)) {
            var same = new InetSocketAddress("127.0.0.1", first.port());
            var failure =
                    assertThrows(
                            Failure.class,
                            () -> Resolver.start(same, ResolverSettings.USUAL, names, clock));
            assertTrue(failure.getMessage().contains("cannot listen"), failure.getMessage());
        }
    }
}
