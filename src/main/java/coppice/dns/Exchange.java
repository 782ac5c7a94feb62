package coppice.dns;

import coppice.base.Deadline;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.random.RandomGenerator;
import org.xbill.DNS.ExtendedFlags;
import org.xbill.DNS.Flags;
import org.xbill.DNS.Message;
import org.xbill.DNS.OPTRecord;
import org.xbill.DNS.Section;

/// Asks a server one question: by UDP, and by TCP when the answer does not fit or somebody seems to guess it.
///
/// Each message has a number and a socket of its own, with a port that the kernel chooses at random; a socket hears the server's address
/// and port only. So a stranger has to guess both, blindly, in the time that the server takes to answer.
final class Exchange {
    /// Datagrams that come from the server's address and do not belong to the question. So many are no accident.
    private static final int MAX_STRANGE = 16;

    private static final int BUFFER = 4096;
    private static final int U16 = 0xffff;

    private final RandomGenerator random;
    private final Wanted wanted;
    private final IntConsumer heard;

    /// @param random not to be guessed
    /// @param heard told the length of each message that comes
    Exchange(RandomGenerator random, Wanted wanted, IntConsumer heard) {
        this.random = random;
        this.wanted = wanted;
        this.heard = heard;
    }

    Reply ask(InetSocketAddress server, Deadline deadline) {
        try {
            var response = ask(server, true, deadline);
            if (response.isPuzzled()) {
                response = ask(server, false, deadline);
            }
            return response.isFinal() ? new Reply.Known(response) : new Reply.Useless();
        } catch (SocketTimeoutException _) {
            return new Reply.Silent();
        } catch (IOException _) {
            return new Reply.Useless();
        }
    }

    private Response ask(InetSocketAddress server, boolean isExtended, Deadline deadline)
            throws IOException {
        var byUdp = askByUdp(server, isExtended, deadline);
        return byUdp.isPresent() ? byUdp.get() : askByTcp(server, isExtended, deadline);
    }

    /// Empty: ask by TCP.
    private Optional<Response> askByUdp(
            InetSocketAddress server, boolean isExtended, Deadline deadline) throws IOException {
        int id = random.nextInt(U16 + 1);
        var query = message(id, isExtended);
        try (var socket = new DatagramSocket(null)) {
            socket.connect(server);
            socket.send(new DatagramPacket(query, query.length));
            for (int strange = 0; strange < MAX_STRANGE; strange++) {
                var packet = new DatagramPacket(new byte[BUFFER], BUFFER);
                socket.setSoTimeout(left(deadline));
                socket.receive(packet);
                var bytes = Arrays.copyOf(packet.getData(), packet.getLength());
                var response = response(bytes);
                if (response.isEmpty() && isNumbered(id, bytes)) {
                    return Optional.empty();
                }
                var answer = response.filter(r -> r.isAbout(id, wanted.question()));
                if (answer.isPresent()) {
                    return answer.filter(r -> !r.isTruncated());
                }
            }
            return Optional.empty();
        }
    }

    /// Whether what cannot be read is likely to be the answer, such as one that was longer than the buffer.
    private static boolean isNumbered(int id, byte[] bytes) {
        return bytes.length >= Head.LENGTH && Head.of(bytes).id() == id;
    }

    private Response askByTcp(InetSocketAddress server, boolean isExtended, Deadline deadline)
            throws IOException {
        int id = random.nextInt(U16 + 1);
        var query = message(id, isExtended);
        try (var socket = new Socket()) {
            socket.connect(server, left(deadline));
            socket.setTcpNoDelay(true);
            socket.getOutputStream()
                    .write(
                            ByteBuffer.allocate(Short.BYTES + query.length)
                                    .putShort((short) query.length)
                                    .put(query)
                                    .array());
            int length = ByteBuffer.wrap(read(socket, Short.BYTES, deadline)).getShort() & U16;
            return response(read(socket, length, deadline))
                    .filter(r -> r.isAbout(id, wanted.question()))
                    .orElseThrow(() -> new IOException("the answer is to another question"));
        }
    }

    /// A server that sends byte after byte gets no more time than one that sends none.
    private static byte[] read(Socket socket, int length, Deadline deadline) throws IOException {
        var bytes = new byte[length];
        InputStream in = socket.getInputStream();
        for (int have = 0; have < length; ) {
            socket.setSoTimeout(left(deadline));
            int more = in.read(bytes, have, length - have);
            if (more < 0) {
                throw new SocketException("the server closed the connection");
            }
            have += more;
        }
        return bytes;
    }

    /// Milliseconds.
    private static int left(Deadline deadline) throws SocketTimeoutException {
        long left = deadline.left().toMillis();
        if (left == 0) {
            throw new SocketTimeoutException("it did not answer in time");
        }
        return Math.toIntExact(left);
    }

    private byte[] message(int id, boolean isExtended) {
        var message = new Message(id);
        message.getHeader().setFlag(Flags.RD);
        if (wanted.unchecked()) {
            message.getHeader().setFlag(Flags.CD);
        }
        message.addRecord(wanted.question().toRecord(), Section.QUESTION);
        if (isExtended) {
            int flags = wanted.signed() ? ExtendedFlags.DO : 0;
            message.addRecord(new OPTRecord(Answer.DATAGRAM, 0, 0, flags), Section.ADDITIONAL);
        }
        return message.toWire();
    }

    /// Empty: it is malformed.
    private Optional<Response> response(byte[] bytes) {
        heard.accept(bytes.length);
        try {
            return Optional.of(new Response(new Message(bytes)));
        } catch (IOException | RuntimeException _) {
            // The library throws whatever it comes across when it is given garbage.
            return Optional.empty();
        }
    }
}
