package coppice.dns;

import org.xbill.DNS.Message;

/// How a query came, and how much room its answer has.
enum Transport {
    UDP {
        @Override
        int room(Query query) {
            return query.edns()
                    .map(edns -> Math.clamp(edns.room(), PLAIN_DATAGRAM, Answer.DATAGRAM))
                    .orElse(PLAIN_DATAGRAM);
        }
    },
    TCP {
        @Override
        int room(Query query) {
            return Message.MAXLENGTH;
        }
    };

    private static final int PLAIN_DATAGRAM = 512;

    abstract int room(Query query);
}
