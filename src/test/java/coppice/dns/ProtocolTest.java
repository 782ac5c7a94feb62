package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Header;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Opcode;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.SimpleResolver;
import org.xbill.DNS.Type;

class ProtocolTest {
    private static final String A = "example.test. 60 IN A 192.0.2.1";

    private final FakeUpstream upstream = FakeUpstream.answering(A);
    private final GivenResolver given = GivenResolver.forwardingTo(upstream);
    private final Client alice = given.alice();

    @AfterEach
    void close() {
        given.close();
        upstream.close();
    }

    private static Message query() {
        return Client.query("example.test.", Type.A);
    }

    private static Message extended(int room) {
        return extended(room, 0);
    }

    private static Message extended(int room, int version) {
        var query = query();
        query.addRecord(new OPTRecord(room, 0, version), Section.ADDITIONAL);
        return query;
    }

    private void assertRefused(int rcode, Message query) {
        var answer = alice.ask(query);
        assertEquals(Rcode.string(rcode), Rcode.string(answer.getRcode()));
        assertEquals(List.of(), Client.data(answer));
        assertEquals(List.of(), upstream.asked());
        assertEquals(1, given.counts().refused());
    }

    @Test
    void anotherClientFindsWhatItAsksForByUdpAndTcp() throws IOException {
        given.names.name("127.0.0.1", "db", "10.0.0.7");
        var other = new SimpleResolver("127.0.0.1");
        other.setPort(given.resolver.port());
        other.setTimeout(Duration.ofSeconds(10));
        for (var isTcp : List.of(false, true)) {
            other.setTCP(isTcp);
            assertEquals(List.of("192.0.2.1"), Client.data(other.send(query())));
            assertEquals(List.of("10.0.0.7"), Client.data(other.send(Client.query("db.", Type.A))));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Opcode.IQUERY, Opcode.STATUS, Opcode.NOTIFY, Opcode.UPDATE, 6, 15})
    void operationsOtherThanQueriesAreNotImplemented(int opcode) {
        var query = query();
        query.getHeader().setOpcode(opcode);
        alice.send(query.toWire());
        var answer = alice.receive();
        assertEquals(Rcode.NOTIMP, answer.getRcode());
        assertEquals(opcode, answer.getHeader().getOpcode());
        assertEquals(query.getHeader().getID(), answer.getHeader().getID());
    }

    @ParameterizedTest
    @CsvSource({"AXFR,REFUSED", "IXFR,REFUSED", "ANY,NOTIMP", "MAILB,NOTIMP", "OPT,NOTIMP"})
    void questionsForMoreThanOneKindOfRecordAreRefused(String type, String rcode) {
        assertRefused(Rcode.value(rcode), Client.query("example.test.", Type.value(type)));
    }

    @ParameterizedTest
    @ValueSource(ints = {DClass.CHAOS, DClass.HESIOD, DClass.NONE, DClass.ANY})
    void classesOtherThanTheInternetAreRefused(int dclass) {
        var name = Name.fromConstantString("version.bind.");
        assertRefused(Rcode.REFUSED, Message.newQuery(Record.newRecord(name, Type.TXT, dclass)));
    }

    @Test
    void twoQuestionsOrNoneAreMalformed() {
        var two = query();
        two.addRecord(query().getQuestion(), Section.QUESTION);
        assertRefused(Rcode.FORMERR, two);
        assertEquals(Rcode.FORMERR, alice.ask(new Message(7)).getRcode());
    }

    @Test
    void aQueryThatBringsAnAnswerIsMalformed() {
        var query = query();
        query.addRecord(FakeUpstream.record(A), Section.ANSWER);
        assertRefused(Rcode.FORMERR, query);
    }

    @Test
    void aQueryThatIsCutOffIsMalformed() {
        var whole = extended(1232).toWire();
        for (int length = Head.LENGTH; length < whole.length; length++) {
            alice.send(Arrays.copyOf(whole, length));
            var answer = alice.receive();
            assertEquals(Rcode.FORMERR, answer.getRcode());
            assertTrue(answer.getHeader().getFlag(Flags.QR));
        }
        assertEquals(List.of(), upstream.asked());
    }

    @Test
    void aMessageWithoutAWholeHeadIsNotAnswered() {
        for (int length = 1; length < Head.LENGTH; length++) {
            alice.send(new byte[length]);
        }
        assertEquals(List.of("192.0.2.1"), Client.data(alice.ask(query())));
        assertEquals(Head.LENGTH - 1, given.counts().dropped());
    }

    @Test
    void anAnswerIsNotAnswered() throws Exception {
        var answer = query();
        answer.getHeader().setFlag(Flags.QR);
        alice.send(answer.toWire());
        assertEquals(List.of("192.0.2.1"), Client.data(alice.ask(query())));
        try (var connection = alice.connect()) {
            connection.send(answer.toWire());
            assertEquals(
                    List.of("192.0.2.1"), Client.data(connection.ask("example.test.", Type.A)));
        }
        assertEquals(2, given.counts().dropped());
    }

    @Test
    void aNameThatPointsIntoTheHeadIsNotFollowedForEver() {
        var bytes = ByteBuffer.allocate(Head.LENGTH + 6);
        bytes.putShort((short) 9).putShort((short) 0x0100).putShort((short) 1);
        bytes.position(Head.LENGTH);
        bytes.putShort((short) 0xc00c).putShort((short) Type.A).putShort((short) DClass.IN);
        alice.send(bytes.array());
        assertEquals(Rcode.FORMERR, alice.receive().getRcode());
    }

    @Test
    void extensionsAreAnsweredWithExtensions() {
        assertNull(alice.ask(query()).getOPT());
        var opt = alice.ask(extended(4096)).getOPT();
        assertNotNull(opt);
        assertEquals(1232, opt.getPayloadSize());
        assertEquals(0, opt.getVersion());
    }

    @Test
    void aLaterVersionOfTheExtensionsIsRefused() {
        assertRefused(Rcode.BADVERS, extended(1232, 1));
    }

    @Test
    void theExtensionsTwiceAreMalformed() {
        var query = extended(1232);
        query.addRecord(new OPTRecord(512, 0, 0), Section.ADDITIONAL);
        assertRefused(Rcode.FORMERR, query);
    }

    @ParameterizedTest
    @CsvSource({"0,512", "100,512", "512,512", "900,900", "1232,1232", "65535,1232"})
    void aDatagramIsAsLongAsTheClientTakesAndPassesEverywhere(int room, int most)
            throws IOException {
        // The question takes 30 bytes, an address 16, the extensions 11.
        int fitting = (most - 41) / 16;
        assertFalse(isTruncated(fitting, extended(room), most));
        assertTrue(isTruncated(fitting + 1, extended(room), most));
    }

    @Test
    void aDatagramWithoutExtensionsIsShort() throws IOException {
        assertFalse(isTruncated((512 - 30) / 16, query(), 512));
        assertTrue(isTruncated((512 - 30) / 16 + 1, query(), 512));
    }

    private boolean isTruncated(int records, Message query, int most) throws IOException {
        given.clock.pass(Duration.ofDays(2));
        upstream.by(
                asked ->
                        Stream.of(
                                FakeUpstream.answer(
                                        asked,
                                        IntStream.range(0, records)
                                                .mapToObj(
                                                        "example.test. 60 IN A 192.0.2.%d"
                                                                ::formatted)
                                                .toArray(String[]::new))));
        alice.send(query.toWire());
        var bytes = alice.receiveBytes();
        assertTrue(bytes.length <= most, () -> bytes.length + " bytes");
        var answer = new Message(bytes);
        assertEquals(Client.isTruncated(answer) ? 0 : records, Client.data(answer).size());
        assertEquals(query.getOPT() == null, answer.getOPT() == null);
        assertEquals(query.getQuestion(), answer.getQuestion());
        return Client.isTruncated(answer);
    }

    @Test
    void anAnswerHasTheNumberAndTheWishesOfItsQuery() {
        for (var isDisabled : List.of(false, true)) {
            var query = query();
            query.getHeader().setID(0xbeef);
            if (isDisabled) {
                query.getHeader().setFlag(Flags.CD);
            }
            Header head = alice.ask(query).getHeader();
            assertEquals(0xbeef, head.getID());
            assertTrue(head.getFlag(Flags.QR) && head.getFlag(Flags.RD) && head.getFlag(Flags.RA));
            assertEquals(isDisabled, head.getFlag(Flags.CD));
        }
    }

    @Test
    void aFaultInTheNamesOfTheHostIsAnsweredAsFailure() {
        given.names.name(GivenResolver.ALICE, "db", "10.0.0.7").breakOn("broken");
        assertEquals(Rcode.SERVFAIL, alice.ask("broken.", Type.A).getRcode());
        assertEquals(List.of("10.0.0.7"), alice.data("db.", Type.A));
        assertEquals(1, given.counts().failed());
    }
}
