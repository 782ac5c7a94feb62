package coppice.fabric;

import coppice.base.IpAddress;
import coppice.network.Protocol;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/// A connection that is tried: one question and its answer.
///
/// @param id nobody answers a question with another one
/// @param sourcePort of ICMP: nothing, as the other one
/// @param size of the question, and of its answer, if it is to be longer than it has to be
/// @param isWhole whether nobody on the way may take it apart
record Flow(
        String id,
        Protocol protocol,
        IpAddress source,
        int sourcePort,
        IpAddress destination,
        int destinationPort,
        int size,
        boolean isWhole) {

    /// What became of it.
    sealed interface Outcome {}

    /// It was answered.
    ///
    /// @param peer the address as which the other end saw this one; of an echo, the other end's
    record Reached(IpAddress peer) implements Outcome {}

    /// Nothing came back.
    record Silent() implements Outcome {}

    /// An error came back.
    ///
    /// @param error the name of a number of `errno`
    record Refused(String error) implements Outcome {}

    static Flow tcp(IpAddress source, int sourcePort, IpAddress destination, int destinationPort) {
        return of(Protocol.TCP, source, sourcePort, destination, destinationPort);
    }

    static Flow udp(IpAddress source, int sourcePort, IpAddress destination, int destinationPort) {
        return of(Protocol.UDP, source, sourcePort, destination, destinationPort);
    }

    static Flow icmp(IpAddress source, IpAddress destination) {
        return of(Protocol.ICMP, source, 0, destination, 0);
    }

    static Flow of(
            Protocol protocol,
            IpAddress source,
            int sourcePort,
            IpAddress destination,
            int destinationPort) {
        return new Flow(
                newId(), protocol, source, sourcePort, destination, destinationPort, 0, false);
    }

    private static String newId() {
        return HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    }

    /// The same, asked so long a question.
    Flow of(int size, boolean isWhole) {
        return new Flow(
                newId(), protocol, source, sourcePort, destination, destinationPort, size, isWhole);
    }

    /// The same once more.
    Flow again() {
        return of(size, isWhole);
    }

    /// As the probe wants it.
    String words() {
        return "%s %s %s %d %s %d"
                .formatted(id, protocol.word(), source, sourcePort, destination, destinationPort);
    }

    @Override
    public String toString() {
        return "%s %s %d -> %s %d"
                .formatted(protocol.word(), source, sourcePort, destination, destinationPort);
    }
}
