package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Message;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

/// A name of a stranger must not lead a guest to an address that the stranger could not reach.
class RebindingTest {
    private final FakeUpstream upstream = FakeUpstream.start();
    private final GivenResolver given = GivenResolver.forwardingTo(upstream);

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    private Message ask(int type, String... records) {
        upstream.by(query -> Stream.of(FakeUpstream.answer(query, records)));
        return given.alice().ask("evil.test.", type);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "10.1.2.3",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.53",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.0.1"
            })
    void anAnswerFromUpstreamHasNoPrivateAddress(String address) {
        var answer = ask(Type.A, "evil.test. 60 IN A " + address, "evil.test. 60 IN A 192.0.2.1");
        assertEquals(List.of("192.0.2.1"), Client.data(answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "::",
                "::1",
                "fd00::1",
                "fc00::1",
                "fe80::1",
                "febf::1",
                "::ffff:10.0.0.1",
                "::10.0.0.1",
                "64:ff9b::169.254.169.254"
            })
    void anAnswerFromUpstreamHasNoPrivateAddressOfTheSixthVersion(String address) {
        var answer =
                ask(
                        Type.AAAA,
                        "evil.test. 60 IN AAAA " + address,
                        "evil.test. 60 IN AAAA 2001:db8::1");
        assertEquals(List.of("2001:db8:0:0:0:0:0:1"), Client.data(answer));
    }

    @ParameterizedTest
    @ValueSource(strings = {"9.255.255.255", "100.63.0.1", "100.128.0.1", "172.32.0.1", "8.8.8.8"})
    void aPublicAddressStays(String address) {
        assertEquals(List.of(address), Client.data(ask(Type.A, "evil.test. 60 IN A " + address)));
    }

    @Test
    void aNameWithPrivateAddressesOnlyIsThereWithoutRecords() {
        var answer = ask(Type.A, "evil.test. 60 IN A 10.0.0.1");
        assertEquals(Rcode.NOERROR, answer.getRcode());
        assertEquals(List.of(), Client.data(answer));
        given.alice().ask("evil.test.", Type.A);
        assertEquals(1, upstream.asked().size());
    }

    @Test
    void whereAnotherNameLeadsIsLookedAtToo() {
        var answer =
                ask(
                        Type.A,
                        "evil.test. 60 IN CNAME inner.test.",
                        "inner.test. 60 IN A 192.168.1.1");
        assertEquals(List.of("inner.test."), Client.data(answer));
    }

    @Test
    void aServiceThatHintsAtAPrivateAddressIsLeftOut() {
        var answer =
                ask(
                        Type.HTTPS,
                        "evil.test. 60 IN HTTPS 1 . ipv4hint=192.0.2.1,10.0.0.1",
                        "evil.test. 60 IN HTTPS 2 . ipv6hint=fd00::1",
                        "evil.test. 60 IN HTTPS 3 . ipv6hint=::ffff:10.0.0.1",
                        "evil.test. 60 IN HTTPS 4 . ipv4hint=192.0.2.1");
        assertEquals(List.of("4 . ipv4hint=192.0.2.1"), Client.data(answer));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CNAME db.",
                "CNAME db.internal.",
                "DNAME internal.",
                "CNAME 1.0.0.10.in-addr.arpa.",
                "HTTPS 0 db.internal."
            })
    void anAnswerFromUpstreamLeadsToNoLocalName(String alias) {
        int type = Type.value(alias.split(" ")[0]);
        assertEquals(List.of(), Client.data(ask(type, "evil.test. 60 IN " + alias)));
    }

    @Test
    void wherePrivateAddressesAreWantedTheyStay() {
        var usual = GivenResolver.settings(upstream).forwarding();
        var settings =
                new ResolverSettings.Forwarding(
                        usual.servers(),
                        usual.resolvConf(),
                        usual.attempt(),
                        usual.deadline(),
                        false);
        upstream.by(
                query -> Stream.of(FakeUpstream.answer(query, "lab.test. 60 IN A 192.168.1.5")));
        try (var trusting = new GivenResolver(GivenResolver.settings(settings))) {
            assertEquals(List.of("192.168.1.5"), trusting.alice().data("lab.test.", Type.A));
        }
    }
}
