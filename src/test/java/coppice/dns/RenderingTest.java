package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import coppice.Seed;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

class RenderingTest {
    private static final Question QUESTION =
            new Question(Name.fromConstantString("www.example.test."), Type.A);

    @Test
    void aNameThatIsThereIsPointedTo() throws IOException {
        var rendering = new Rendering(QUESTION);
        var records =
                Stream.of(
                                "www.example.test. 60 IN CNAME host.example.test.",
                                "host.example.test. 60 IN A 192.0.2.1",
                                "host.example.test. 60 IN A 192.0.2.2")
                        .map(FakeUpstream::record)
                        .toList();
        records.forEach(record -> assertTrue(rendering.add(record, Section.ANSWER)));
        var bytes = rendering.bytes();
        assertEquals(records, new Message(bytes).getSection(Section.ANSWER));
        int question = QUESTION.bytes().length;
        int target = records.get(1).getName().length();
        assertEquals(Head.LENGTH + question + 12 + target + 2 * (12 + 4), bytes.length);
        assertEquals(records.size(), rendering.ttls().length);
    }

    @Test
    void theRootIsNotPointedTo() throws IOException {
        var rendering = new Rendering(new Question(Name.root, Type.NS));
        var records =
                Stream.of(". 60 IN NS a.example.test.", ". 60 IN NS b.example.test.")
                        .map(FakeUpstream::record)
                        .toList();
        records.forEach(record -> assertTrue(rendering.add(record, Section.ANSWER)));
        assertEquals(records, new Message(rendering.bytes()).getSection(Section.ANSWER));
    }

    @Test
    void whatIsWrittenIsReadAsTheSame() throws IOException {
        var random = Seed.random(RenderingTest.class);
        for (int round = 0; round < 300; round++) {
            var records = Stream.generate(() -> record(random)).limit(random.nextInt(60)).toList();
            int answers = random.nextInt(records.size() + 1);
            var rendering = new Rendering(QUESTION);
            for (int i = 0; i < records.size(); i++) {
                int section = i < answers ? Section.ANSWER : Section.AUTHORITY;
                assertTrue(rendering.add(records.get(i), section));
            }
            var message = new Message(rendering.bytes());
            var read = new ArrayList<>(message.getSection(Section.ANSWER));
            assertEquals(answers, read.size());
            read.addAll(message.getSection(Section.AUTHORITY));
            assertEquals(records, read);
            assertEquals(
                    records.stream().map(Record::getTTL).toList(),
                    read.stream().map(Record::getTTL).toList());
        }
    }

    @Test
    void anAnswerThatNoMessageHasRoomForHasFailed() {
        var names =
                IntStream.range(0, 1000)
                        .mapToObj(i -> "n%d.%s".formatted(i, "long.".repeat(40)))
                        .map(name -> FakeUpstream.record(name + " 60 IN A 192.0.2.1"))
                        .toList();
        var rendering = new Rendering(QUESTION);
        assertFalse(names.stream().allMatch(name -> rendering.add(name, Section.ANSWER)));
        assertTrue(rendering.bytes().length <= Message.MAXLENGTH);
        var answer = Answer.foreign(QUESTION, Rcode.NOERROR, names, List.of());
        assertEquals(Rcode.SERVFAIL, answer.rcode());
    }

    private static Record record(Random random) {
        var name = name(random);
        int ttl = random.nextInt(100_000);
        return FakeUpstream.record(
                "%s %d IN %s"
                        .formatted(
                                name,
                                ttl,
                                switch (random.nextInt(7)) {
                                    case 0 -> "A 192.0.2." + random.nextInt(256);
                                    case 1 -> "AAAA 2001:db8::" + random.nextInt(9999);
                                    case 2 -> "CNAME " + name(random);
                                    case 3 ->
                                            "MX %d %s".formatted(random.nextInt(99), name(random));
                                    case 4 -> "TXT \"" + "x".repeat(random.nextInt(200)) + "\"";
                                    case 5 -> "NS " + name(random);
                                    default -> "SRV 1 2 3 " + name(random);
                                }));
    }

    private static String name(Random random) {
        var name = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            name.append((char) ('a' + random.nextInt(3))).append('.');
        }
        return name.append("example.test.").toString();
    }
}
