package coppice.dns;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.xbill.DNS.DClass;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.Name;
import org.xbill.DNS.Record;
import org.xbill.DNS.Section;

/// A client with an address of its own on loopback, that sends what it is told to and waits for what comes.
final class Client implements AutoCloseable {
    private static final int PATIENCE = 10_000;

    private final InetAddress address;
    private final InetSocketAddress server;
    private final DatagramSocket udp;

    Client(String address, int port) {
        try {
            this.address = InetAddress.ofLiteral(address);
            this.server = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
            this.udp = new DatagramSocket(0, this.address);
            udp.connect(server);
            udp.setSoTimeout(PATIENCE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Message query(String name, int type) {
        return Message.newQuery(Record.newRecord(Name.fromConstantString(name), type, DClass.IN));
    }

    /// Asks by UDP.
    Message ask(String name, int type) {
        return ask(query(name, type));
    }

    /// What comes first must be the answer.
    Message ask(Message query) {
        send(query.toWire());
        var answer = receive();
        assertEquals(query.getHeader().getID(), answer.getHeader().getID(), answer::toString);
        return answer;
    }

    /// Empty: nothing came in that time.
    Optional<Message> tryAsk(String name, int type, Duration time) {
        try {
            drain();
            send(query(name, type).toWire());
            udp.setSoTimeout(Math.toIntExact(time.toMillis()));
            return Optional.of(new Message(receiveBytes()));
        } catch (SocketTimeoutException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            restorePatience();
        }
    }

    /// What the records of an answer say, without names and times.
    List<String> data(String name, int type) {
        return data(ask(name, type));
    }

    static List<String> data(Message answer) {
        return answer.getSection(Section.ANSWER).stream().map(Record::rdataToString).toList();
    }

    static List<Long> ttls(Message answer) {
        return answer.getSection(Section.ANSWER).stream().map(Record::getTTL).toList();
    }

    void send(byte[] datagram) {
        try {
            udp.send(new DatagramPacket(datagram, datagram.length));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Message receive() {
        try {
            return new Message(receiveBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    byte[] receiveBytes() throws IOException {
        var packet = new DatagramPacket(new byte[65535], 65535);
        udp.receive(packet);
        return Arrays.copyOf(packet.getData(), packet.getLength());
    }

    /// Drops what has come.
    Client drain() throws IOException {
        udp.setSoTimeout(1);
        try {
            while (true) {
                receiveBytes();
            }
        } catch (SocketTimeoutException _) {
            return this;
        } finally {
            restorePatience();
        }
    }

    private void restorePatience() {
        try {
            udp.setSoTimeout(PATIENCE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Stream connect() {
        try {
            return new Stream(new Socket(server.getAddress(), server.getPort(), address, 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A connection by TCP.
    record Stream(Socket socket) implements AutoCloseable {
        Stream {
            try {
                socket.setSoTimeout(PATIENCE);
                socket.setTcpNoDelay(true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        Message ask(String name, int type) throws IOException {
            send(query(name, type).toWire());
            return receive();
        }

        void send(byte[] message) throws IOException {
            socket.getOutputStream()
                    .write(
                            ByteBuffer.allocate(2 + message.length)
                                    .putShort((short) message.length)
                                    .put(message)
                                    .array());
        }

        Message receive() throws IOException {
            var in = new DataInputStream(socket.getInputStream());
            var bytes = new byte[in.readUnsignedShort()];
            in.readFully(bytes);
            return new Message(bytes);
        }

        /// Whether the server has closed it, once it has.
        boolean isAtEnd() throws IOException {
            return socket.getInputStream().read() < 0;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    static boolean isTruncated(Message answer) {
        return answer.getHeader().getFlag(Flags.TC);
    }

    @Override
    public void close() {
        udp.close();
    }
}
