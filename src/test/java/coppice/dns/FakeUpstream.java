package coppice.dns;

import coppice.Wait;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Rcode;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;
import org.xbill.DNS.Type;

/// A nameserver on loopback, by UDP and TCP on one port, that answers as it is told, and notes what it was asked.
final class FakeUpstream implements AutoCloseable {
    private final List<Asked> asked = new CopyOnWriteArrayList<>();
    private final DatagramSocket udp;
    private final ServerSocket tcp;
    private volatile Behaviour byUdp = query -> Stream.of(answer(query));
    private volatile Behaviour byTcp = query -> Stream.of(answer(query));

    private volatile boolean isTrickling;

    /// What is sent back for a query: nothing, one message, or several, that need not be right.
    interface Behaviour {
        Stream<byte[]> answers(Message query) throws IOException;
    }

    /// A query that came.
    record Asked(Message query, Transport transport, int port) {
        String name() {
            return query.getQuestion().getName().toString();
        }
    }

    private FakeUpstream(DatagramSocket udp, ServerSocket tcp) {
        this.udp = udp;
        this.tcp = tcp;
        Thread.ofVirtual().name("fake-upstream-udp").start(this::serveUdp);
        Thread.ofVirtual().name("fake-upstream-tcp").start(this::serveTcp);
    }

    static FakeUpstream start() {
        try {
            var tcp = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            return new FakeUpstream(new DatagramSocket(tcp.getLocalSocketAddress()), tcp);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The same to all, by UDP and TCP.
    static FakeUpstream answering(String... records) {
        return start().by(query -> Stream.of(answer(query, records)));
    }

    FakeUpstream by(Behaviour behaviour) {
        return byUdp(behaviour).byTcp(behaviour);
    }

    FakeUpstream byUdp(Behaviour behaviour) {
        byUdp = behaviour;
        return this;
    }

    FakeUpstream byTcp(Behaviour behaviour) {
        byTcp = behaviour;
        return this;
    }

    /// By TCP the answer comes byte after byte, and has no end.
    FakeUpstream trickling() {
        isTrickling = true;
        return this;
    }

    static FakeUpstream silent() {
        return start().by(_ -> Stream.of());
    }

    InetSocketAddress address() {
        return (InetSocketAddress) tcp.getLocalSocketAddress();
    }

    List<Asked> asked() {
        return List.copyOf(asked);
    }

    long asked(Predicate<Asked> which) {
        return asked.stream().filter(which).count();
    }

    /// An answer with these records, such as `example.test. 60 IN A 192.0.2.1`; those behind `authority` are about the zone.
    static byte[] answer(Message query, String... records) {
        return answer(query, Rcode.NOERROR, records);
    }

    static byte[] answer(Message query, int rcode, String... records) {
        return message(query, rcode, records).toWire();
    }

    static Message message(Message query, int rcode, String... records) {
        var answer = new Message(query.getHeader().getID());
        answer.getHeader().setFlag(Flags.QR);
        answer.getHeader().setFlag(Flags.RD);
        answer.getHeader().setFlag(Flags.RA);
        answer.getHeader().setRcode(rcode);
        answer.addRecord(query.getQuestion(), Section.QUESTION);
        int section = Section.ANSWER;
        for (var record : records) {
            if (record.equals("authority")) {
                section = Section.AUTHORITY;
            } else if (record.equals("additional")) {
                section = Section.ADDITIONAL;
            } else {
                answer.addRecord(record(record), section);
            }
        }
        return answer;
    }

    /// The word to come by TCP.
    static byte[] truncated(Message query) {
        var answer = message(query, Rcode.NOERROR);
        answer.getHeader().setFlag(Flags.TC);
        return answer.toWire();
    }

    static Record record(String line) {
        try {
            var words = line.split(" ", 5);
            return Record.fromString(
                    Name.fromString(words[0]),
                    Type.value(words[3]),
                    DClass.IN,
                    Long.parseLong(words[1]),
                    words[4],
                    Name.root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serveUdp() {
        while (!udp.isClosed()) {
            try {
                var packet = new DatagramPacket(new byte[4096], 4096);
                udp.receive(packet);
                var query = new Message(ByteBuffer.wrap(packet.getData(), 0, packet.getLength()));
                asked.add(new Asked(query, Transport.UDP, packet.getPort()));
                for (var answer : byUdp.answers(query).toList()) {
                    udp.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
                }
            } catch (IOException e) {
                failUnless(udp.isClosed(), e);
            }
        }
    }

    /// Where the last query by UDP came from.
    SocketAddress clientOfLast() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), asked.getLast().port());
    }

    /// Sends from another port of the same address.
    static void sendFromElsewhere(byte[] message, SocketAddress to) throws IOException {
        try (var socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            socket.send(new DatagramPacket(message, message.length, to));
        }
    }

    private void serveTcp() {
        while (!tcp.isClosed()) {
            try {
                var socket = tcp.accept();
                Thread.ofVirtual().name("fake-upstream-conn").start(() -> serve(socket));
            } catch (IOException e) {
                failUnless(tcp.isClosed(), e);
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new DataInputStream(socket.getInputStream());
            var query = new Message(in.readNBytes(in.readUnsignedShort()));
            asked.add(new Asked(query, Transport.TCP, socket.getPort()));
            while (isTrickling) {
                socket.getOutputStream().write(1);
                Wait.moment();
            }
            for (var answer : byTcp.answers(query).toList()) {
                var bytes = ByteBuffer.allocate(2 + answer.length);
                socket.getOutputStream()
                        .write(bytes.putShort((short) answer.length).put(answer).array());
            }
            // Until the client has enough: a silent server keeps it waiting.
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException _) {
            // The client had enough.
        }
    }

    private static void failUnless(boolean isExpected, IOException e) {
        if (!isExpected) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        udp.close();
        try {
            tcp.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
