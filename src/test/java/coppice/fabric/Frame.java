package coppice.fabric;

import coppice.base.IpAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/// An Ethernet frame, or the beginning of one.
final class Frame {
    static final int IPV4 = 0x0800;
    static final int ARP = 0x0806;
    static final int VLAN = 0x8100;
    static final int IPV6 = 0x86dd;

    static final int ICMP = 1;
    static final int TCP = 6;
    static final int UDP = 17;
    static final int ICMPV6 = 58;
    private static final int FRAGMENT = 44;
    private static final int DESTINATION_OPTIONS = 60;

    private static final int MAC = 6;
    private static final int ETHERNET = 14;
    private static final int V4_HEADER = 20;
    private static final int V6_HEADER = 40;

    private final byte[] bytes;

    private Frame(byte[] bytes) {
        this.bytes = bytes;
    }

    /// What a frame carries, if it is IP: ports are 0 where there are none.
    record Packet(
            int protocol,
            IpAddress source,
            int sourcePort,
            IpAddress destination,
            int destinationPort) {}

    static Frame parse(String hexadecimal) {
        return new Frame(HexFormat.of().parseHex(hexadecimal));
    }

    String hexadecimal() {
        return HexFormat.of().formatHex(bytes);
    }

    int type() {
        return ByteBuffer.wrap(bytes).getShort(2 * MAC) & 0xffff;
    }

    boolean isFrom(String mac) {
        return mac(mac).equals(ByteBuffer.wrap(bytes, MAC, MAC));
    }

    boolean contains(String text) {
        return new String(bytes, StandardCharsets.ISO_8859_1).contains(text);
    }

    Optional<Packet> packet() {
        boolean isV6 = type() == IPV6;
        int header = isV6 ? V6_HEADER : V4_HEADER;
        if ((!isV6 && type() != IPV4) || bytes.length < ETHERNET + header + 4) {
            return Optional.empty();
        }
        int protocol = bytes[ETHERNET + (isV6 ? 6 : 9)] & 0xff;
        boolean hasPorts = protocol == TCP || protocol == UDP;
        var in = ByteBuffer.wrap(bytes);
        return Optional.of(
                new Packet(
                        protocol,
                        address(ETHERNET + (isV6 ? 8 : 12), isV6),
                        hasPorts ? in.getShort(ETHERNET + header) & 0xffff : 0,
                        address(ETHERNET + (isV6 ? 24 : 16), isV6),
                        hasPorts ? in.getShort(ETHERNET + header + 2) & 0xffff : 0));
    }

    private IpAddress address(int at, boolean isV6) {
        var address = new byte[isV6 ? 16 : 4];
        System.arraycopy(bytes, at, address, 0, address.length);
        return IpAddress.of(address);
    }

    private static ByteBuffer mac(String text) {
        return ByteBuffer.wrap(HexFormat.ofDelimiter(":").parseHex(text));
    }

    /// Two stations.
    record Link(String source, String destination) {
        static final String BROADCAST = "ff:ff:ff:ff:ff:ff";

        Frame carrying(int type, byte[] payload) {
            var out = ByteBuffer.allocate(Math.max(60, ETHERNET + payload.length));
            out.put(mac(destination)).put(mac(source)).putShort((short) type).put(payload);
            return new Frame(out.array());
        }

        /// As a member of a VLAN.
        Frame tagged(int type, byte[] payload) {
            var out = ByteBuffer.allocate(4 + payload.length);
            out.putShort((short) 1).putShort((short) type).put(payload);
            return carrying(VLAN, out.array());
        }

        /// @param operation 1 asks, 2 answers
        Frame arp(int operation, String mac, IpAddress sender, IpAddress target) {
            var out = ByteBuffer.allocate(28);
            out.putShort((short) 1).putShort((short) IPV4).put((byte) MAC).put((byte) 4);
            out.putShort((short) operation).put(mac(mac)).put(sender.bytes());
            out.put(mac(destination)).put(target.bytes());
            return carrying(ARP, out.array());
        }

        Frame ip(byte[] packet) {
            return carrying(packet[0] >>> 4 == 6 ? IPV6 : IPV4, packet);
        }
    }

    /// A packet of IPv6 in two fragments.
    ///
    /// @param at so many bytes of it behind its header are in the first one, a multiple of 8
    static List<byte[]> fragments(byte[] packet, int at) {
        int id = ThreadLocalRandom.current().nextInt();
        return List.of(
                fragment(packet, id, 0, at, 1),
                fragment(packet, id, at, packet.length - V6_HEADER - at, 0));
    }

    private static byte[] fragment(byte[] packet, int id, int from, int length, int hasMore) {
        var out = ByteBuffer.allocate(V6_HEADER + 8 + length);
        out.put(packet, 0, V6_HEADER).put(packet[6]).put((byte) 0);
        out.putShort((short) (from | hasMore)).putInt(id);
        out.put(packet, V6_HEADER + from, length);
        return out.putShort(4, (short) (8 + length)).put(6, (byte) FRAGMENT).array();
    }

    /// Two hosts.
    record Path(IpAddress source, IpAddress destination) {

        byte[] udp(int sourcePort, int destinationPort, String text) {
            var payload = text.getBytes(StandardCharsets.UTF_8);
            var out = ByteBuffer.allocate(8 + payload.length);
            out.putShort((short) sourcePort).putShort((short) destinationPort);
            out.putShort((short) out.capacity()).putShort((short) 0).put(payload);
            return packet(UDP, summed(UDP, out.array(), 6));
        }

        /// A message of ICMP or ICMPv6.
        ///
        /// @param rest what follows the checksum
        byte[] icmp(int type, int code, byte[] rest) {
            return packet(protocol(), message(type, code, rest));
        }

        /// The same behind destination options of IPv6 that say nothing but these bytes.
        byte[] icmpBehindOptions(int type, byte[] options, byte[] rest) {
            var message = message(type, 0, rest);
            int length = (options.length + 4 + 7) / 8 * 8;
            var out = ByteBuffer.allocate(length + message.length);
            // An option that a host which does not know it skips, padded with zeros.
            out.put((byte) ICMPV6).put((byte) (length / 8 - 1));
            out.put((byte) 0x1e).put((byte) (length - 4)).put(options);
            out.position(length).put(message);
            return packet(DESTINATION_OPTIONS, out.array());
        }

        private int protocol() {
            return source.isV6() ? ICMPV6 : ICMP;
        }

        private byte[] message(int type, int code, byte[] rest) {
            var out = ByteBuffer.allocate(4 + rest.length);
            out.put((byte) type).put((byte) code).putShort((short) 0).put(rest);
            return summed(protocol(), out.array(), 2);
        }

        byte[] packet(int protocol, byte[] payload) {
            var out = ByteBuffer.allocate((source.isV6() ? V6_HEADER : V4_HEADER) + payload.length);
            if (source.isV6()) {
                out.putInt(0x60000000).putShort((short) payload.length);
                out.put((byte) protocol).put((byte) 255).put(source.bytes());
                return out.put(destination.bytes()).put(payload).array();
            }
            out.putShort((short) 0x4500).putShort((short) out.capacity()).putInt(0);
            out.put((byte) 64).put((byte) protocol).putShort((short) 0);
            out.put(source.bytes()).put(destination.bytes()).put(payload);
            return out.putShort(10, (short) sum(out.array(), 0, V4_HEADER, 0)).array();
        }

        /// With the checksum in its place: of IPv4's ICMP without the addresses, which all others have.
        private byte[] summed(int protocol, byte[] payload, int at) {
            int before = 0;
            if (protocol != ICMP) {
                before = protocol + payload.length;
                for (var address : new IpAddress[] {source, destination}) {
                    before += ~sum(address.bytes(), 0, address.bytes().length, 0) & 0xffff;
                }
            }
            int sum = sum(payload, 0, payload.length, before);
            return ByteBuffer.wrap(payload).putShort(at, (short) sum).array();
        }

        private static int sum(byte[] bytes, int from, int length, int before) {
            int sum = before;
            for (int i = 0; i < length; i++) {
                sum += (bytes[from + i] & 0xff) << (i % 2 == 0 ? 8 : 0);
            }
            while (sum >>> 16 != 0) {
                sum = (sum & 0xffff) + (sum >>> 16);
            }
            return ~sum & 0xffff;
        }
    }

    @Override
    public String toString() {
        return packet().map(Packet::toString).orElse("type %04x".formatted(type()))
                + " "
                + hexadecimal();
    }
}
