package coppice.dns;

import java.util.concurrent.atomic.LongAdder;

/// Counts for [ResolverCounts].
final class Counters {
    final LongAdder queries = new LongAdder();
    final LongAdder local = new LongAdder();
    final LongAdder cached = new LongAdder();
    final LongAdder forwarded = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder dropped = new LongAdder();

    ResolverCounts read() {
        return new ResolverCounts(
                queries.sum(),
                local.sum(),
                cached.sum(),
                forwarded.sum(),
                failed.sum(),
                refused.sum(),
                dropped.sum());
    }
}
