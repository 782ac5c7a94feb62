package coppice.dns;

import coppice.base.Code;
import coppice.base.Failure;
import coppice.base.Undo;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// The resolver of guests, by UDP and TCP on one address. It runs from [#start] until [#close].
public final class Resolver implements AutoCloseable {
    private static final Duration CLOSE_TIME = Duration.ofSeconds(5);
    private static final int BUFFER = 1 << 20;
    private static final int BACKLOG = 128;

    /// When any port will do, the one that TCP got may be taken for UDP.
    private static final int PORT_TRIES = 20;

    private final Sockets sockets;
    private final UdpEnd udp;
    private final TcpEnd tcp;
    private final Counters counters = new Counters();
    private final ExecutorService threads =
            Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("dns-", 0).factory());

    private record Sockets(DatagramChannel udp, ServerSocket tcp) {}

    private Resolver(
            Sockets sockets, ResolverSettings settings, LocalNames names, InstantSource clock) {
        this.sockets = sockets;
        var self = (InetSocketAddress) sockets.tcp().getLocalSocketAddress();
        var forwarding = settings.forwarding();
        var forwarder =
                new Forwarder(new Upstreams(forwarding, self), new SecureRandom(), forwarding);
        var complaints = new Complaints();
        var askers = new Askers(settings.perClient(), settings.inAll(), clock);
        var lookups =
                new Lookups(
                        new Cache(settings.cache(), clock), forwarder, askers, counters, settings);
        var answering = new Answering(new LocalAnswers(names), lookups, counters, complaints);
        var reception = new Reception(names, askers, answering, counters, complaints, threads);
        this.udp = new UdpEnd(sockets.udp(), reception, settings.inAll());
        this.tcp = new TcpEnd(sockets.tcp(), reception, settings.idleTime());
    }

    /// Answers from now on. Fails if the address cannot be had.
    ///
    /// @param address with port 0, any that is free
    public static Resolver start(
            InetSocketAddress address,
            ResolverSettings settings,
            LocalNames names,
            InstantSource clock) {
        try (var undo = new Undo()) {
            var sockets = open(address);
            undo.add(sockets.udp());
            undo.add(sockets.tcp());
            var resolver = new Resolver(sockets, settings, names, clock);
            resolver.udp.start();
            resolver.tcp.start();
            undo.keep();
            return resolver;
        }
    }

    private static Sockets open(InetSocketAddress address) {
        for (int tries = 1; ; tries++) {
            try (var undo = new Undo()) {
                var tcp = new ServerSocket();
                undo.add(tcp);
                tcp.bind(address, BACKLOG);
                var udp = DatagramChannel.open();
                undo.add(udp);
                udp.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
                udp.bind(tcp.getLocalSocketAddress());
                undo.keep();
                return new Sockets(udp, tcp);
            } catch (BindException e) {
                if (address.getPort() != 0 || tries == PORT_TRIES) {
                    throw busy(address, e);
                }
            } catch (IOException e) {
                throw busy(address, e);
            }
        }
    }

    private static Failure busy(InetSocketAddress address, IOException cause) {
        return new Failure(
                Code.UNAVAILABLE,
                "the resolver cannot listen on %s: see whether the address exists and no other server has it"
                        .formatted(address),
                cause);
    }

    public int port() {
        return sockets.tcp().getLocalPort();
    }

    public ResolverCounts counts() {
        return counters.read();
    }

    /// Nothing is answered any more; queries that are being answered are given up.
    @Override
    public void close() {
        try {
            tcp.close();
            udp.close();
        } catch (IOException e) {
            throw new Failure(Code.UNAVAILABLE, "the resolver's sockets cannot be closed", e);
        } finally {
            threads.shutdownNow();
        }
        try {
            if (!threads.awaitTermination(CLOSE_TIME.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new Failure(Code.UNAVAILABLE, "the resolver's queries do not end");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
