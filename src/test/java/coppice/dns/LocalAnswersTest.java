package coppice.dns;

import static coppice.dns.GivenResolver.ALICE;
import static coppice.dns.GivenResolver.BOB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Type;

class LocalAnswersTest {
    private final FakeUpstream upstream = FakeUpstream.answering();
    private final GivenResolver given = GivenResolver.forwardingTo(upstream);
    private final Client alice = given.alice();

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    @Test
    void aClientFindsANameOfItsOwnByTheLabelAlone() {
        given.names.name(ALICE, "build-1", "10.0.0.7");
        var answer = alice.ask("build-1.", Type.A);
        assertEquals(List.of("10.0.0.7"), Client.data(answer));
        assertEquals(List.of(5L), Client.ttls(answer));
        assertTrue(answer.getHeader().getFlag(Flags.AA));
        assertTrue(answer.getHeader().getFlag(Flags.RA));
    }

    @Test
    void aClientFindsANameOfItsOwnBelowInternal() {
        given.names.name(ALICE, "build-1", "10.0.0.7");
        assertEquals(List.of("10.0.0.7"), alice.data("build-1.internal.", Type.A));
    }

    @Test
    void theCaseOfANameDoesNotMatterAndIsGivenBack() {
        given.names.name(ALICE, "build-1", "10.0.0.7");
        var answer = alice.ask("BUILD-1.Internal.", Type.A);
        assertEquals(List.of("10.0.0.7"), Client.data(answer));
        assertEquals("BUILD-1.Internal.", answer.getQuestion().getName().toString());
    }

    @Test
    void twoClientsThatHaveTheSameNameGetTheirOwn() {
        given.names.name(ALICE, "db", "10.0.0.7").name(BOB, "db", "10.0.0.8");
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
        assertEquals(List.of("10.0.0.8"), given.bob().data("db.", Type.A));
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
    }

    @Test
    void aClientDoesNotFindTheNamesOfAnother() {
        given.names.name(BOB, "db", "10.0.0.8");
        assertEquals(Rcode.NXDOMAIN, alice.ask("db.", Type.A).getRcode());
    }

    @Test
    void eachFamilyOfAddressesIsAnsweredByItself() {
        given.names.name(ALICE, "db", "10.0.0.7", "10.0.0.8", "fd00::7");
        assertEquals(List.of("10.0.0.7", "10.0.0.8"), alice.data("db.", Type.A));
        assertEquals(List.of("fd00:0:0:0:0:0:0:7"), alice.data("db.", Type.AAAA));
    }

    @Test
    void aNameThatHasTheOtherFamilyOnlyIsThereWithoutRecords() {
        given.names.name(ALICE, "db", "10.0.0.7");
        for (int type : List.of(Type.AAAA, Type.MX, Type.TXT)) {
            var answer = alice.ask("db.", type);
            assertEquals(Rcode.NOERROR, answer.getRcode());
            assertEquals(List.of(), Client.data(answer));
            assertTrue(answer.getHeader().getFlag(Flags.AA));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "absent.",
                "com.",
                "localhost.",
                "absent.internal.",
                "db.of.internal.",
                "www.localhost.",
                "5.0.0.10.in-addr.arpa.",
                "10.in-addr.arpa.",
                "16.172.in-addr.arpa.",
                "b._dns-sd._udp.1.168.192.in-addr.arpa.",
                "1.2.3.127.100.in-addr.arpa.",
                "1.0.0.127.in-addr.arpa.",
                "1.1.254.169.in-addr.arpa.",
                "0.0.d.f.ip6.arpa.",
                "a.e.f.ip6.arpa."
            })
    void aLocalNameIsAbsentAndNobodyElseIsAsked(String name) {
        for (int type : List.of(Type.A, Type.PTR, Type.SOA, Type.NS)) {
            assertEquals(Rcode.NXDOMAIN, alice.ask(name, type).getRcode(), name);
        }
        assertEquals(List.of(), upstream.asked());
        assertEquals(4, given.counts().local());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ".",
                "example.test.",
                "internal.test.",
                "5.2.0.192.in-addr.arpa.",
                "172.in-addr.arpa.",
                "32.172.in-addr.arpa.",
                "1.128.100.in-addr.arpa.",
                "8.b.d.0.1.0.0.2.ip6.arpa."
            })
    void aForeignNameIsAskedUpstream(String name) {
        alice.ask(name, Type.PTR);
        assertEquals(List.of(name), upstream.asked().stream().map(a -> a.name()).toList());
    }

    @Test
    void theDomainOfTheNamesIsThereItself() {
        var answer = alice.ask("internal.", Type.A);
        assertEquals(Rcode.NOERROR, answer.getRcode());
        assertEquals(List.of(), Client.data(answer));
    }

    @Test
    void anAddressOfANameOfItsOwnLeadsBackToIt() {
        given.names.name(ALICE, "db", "10.0.0.7", "fd00::7").name(BOB, "web", "10.0.0.7");
        assertEquals(List.of("db.internal."), alice.data("7.0.0.10.in-addr.arpa.", Type.PTR));
        assertEquals(
                List.of("web.internal."), given.bob().data("7.0.0.10.in-addr.arpa.", Type.PTR));
        assertEquals(
                List.of("db.internal."),
                alice.data(
                        "7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.F.ip6.arpa.",
                        Type.PTR));
        assertEquals(Rcode.NOERROR, alice.ask("7.0.0.10.in-addr.arpa.", Type.A).getRcode());
    }

    @Test
    void namesAreAnsweredWithoutTheWishThatOthersBeAsked() {
        given.names.name(ALICE, "db", "10.0.0.7");
        var query = Client.query("db.", Type.A);
        query.getHeader().unsetFlag(Flags.RD);
        var answer = alice.ask(query);
        assertEquals(List.of("10.0.0.7"), Client.data(answer));
        assertFalse(answer.getHeader().getFlag(Flags.RD));
    }

    @Test
    void aClientThatIsNotKnownIsRefusedEverything() throws Exception {
        given.names.name(ALICE, "db", "10.0.0.7");
        var stranger = given.client(GivenResolver.STRANGER);
        assertEquals(Rcode.REFUSED, stranger.ask("db.", Type.A).getRcode());
        assertEquals(Rcode.REFUSED, stranger.ask("example.test.", Type.A).getRcode());
        stranger.send(new byte[Head.LENGTH]);
        assertEquals(Rcode.REFUSED, stranger.receive().getRcode());
        var update = Client.query("db.", Type.A);
        update.getHeader().setOpcode(Opcode.UPDATE);
        assertEquals(Rcode.REFUSED, stranger.ask(update).getRcode());
        try (var connection = stranger.connect()) {
            assertEquals(Rcode.REFUSED, connection.ask("db.", Type.A).getRcode());
        }
        assertEquals(List.of(), upstream.asked());
        assertEquals(5, given.counts().refused());
    }

    @Test
    void aClientThatIsForgottenIsRefusedOnTheConnectionThatItHas() throws Exception {
        given.names.name(ALICE, "db", "10.0.0.7");
        try (var connection = alice.connect()) {
            assertEquals(Rcode.NOERROR, connection.ask("db.", Type.A).getRcode());
            given.names.forget(ALICE);
            assertEquals(Rcode.REFUSED, connection.ask("db.", Type.A).getRcode());
        }
    }

    @Test
    void aNameWithManyAddressesComesByTcp() throws Exception {
        var many = new String[60];
        for (int i = 0; i < many.length; i++) {
            many[i] = "10.0.1." + i;
        }
        given.names.name(ALICE, "farm", many);
        Message short_ = alice.ask("farm.", Type.A);
        assertTrue(Client.isTruncated(short_));
        assertEquals(List.of(), Client.data(short_));
        try (var connection = alice.connect()) {
            assertEquals(List.of(many), Client.data(connection.ask("farm.", Type.A)));
        }
    }
}
