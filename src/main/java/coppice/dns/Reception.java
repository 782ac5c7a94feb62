package coppice.dns;

import coppice.base.IpAddress;
import java.net.InetAddress;
import java.util.concurrent.ExecutorService;

/// What both ends of the resolver, UDP and TCP, need to receive clients.
///
/// @param threads each query has one of its own
record Reception(
        LocalNames names,
        Askers askers,
        Answering answering,
        Counters counters,
        Complaints complaints,
        ExecutorService threads) {

    Asker asker(InetAddress address) {
        var client = IpAddress.of(address.getAddress());
        return new Asker(client, names.isKnown(client));
    }
}
