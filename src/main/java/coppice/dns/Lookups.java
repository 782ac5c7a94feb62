package coppice.dns;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.xbill.DNS.Rcode;

/// Finds what is not local: in the cache, or upstream. Those who want the same at the same time wait for one question. Thread-safe.
final class Lookups {
    /// So long others are told that it failed without asking again.
    private static final Duration FAILURE = Duration.ofSeconds(1);

    private final Cache cache;
    private final Forwarder forwarder;
    private final Askers askers;
    private final Counters counters;
    private final ResolverSettings settings;
    private final Map<Wanted, FutureTask<Cache.Aged>> flights = new ConcurrentHashMap<>();

    Lookups(
            Cache cache,
            Forwarder forwarder,
            Askers askers,
            Counters counters,
            ResolverSettings settings) {
        this.cache = cache;
        this.forwarder = forwarder;
        this.askers = askers;
        this.counters = counters;
        this.settings = settings;
    }

    /// Always an answer, if only that it failed.
    Cache.Aged find(Asker asker, Wanted wanted) {
        var kept = cache.find(wanted);
        if (kept.isPresent()) {
            counters.cached.increment();
            return kept.get();
        }
        if (!askers.beginForwarding(asker)) {
            return failed(wanted);
        }
        try {
            return fly(asker, wanted).orElseGet(() -> failed(wanted));
        } finally {
            askers.endForwarding(asker);
        }
    }

    private Optional<Cache.Aged> fly(Asker asker, Wanted wanted) {
        var own = new FutureTask<>(() -> ask(asker, wanted));
        var other = flights.putIfAbsent(wanted, own);
        if (other == null) {
            try {
                own.run();
            } finally {
                flights.remove(wanted);
            }
        }
        try {
            long patience = settings.forwarding().deadline().toNanos();
            var flight = other == null ? own : other;
            return Optional.of(flight.get(patience, TimeUnit.NANOSECONDS));
        } catch (TimeoutException _) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("asking upstream broke", e.getCause());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private Cache.Aged ask(Asker asker, Wanted wanted) {
        // Somebody else's question may have ended between our two looks.
        var kept = cache.find(wanted);
        if (kept.isPresent()) {
            return kept.get();
        }
        counters.forwarded.increment();
        var found =
                forwarder
                        .ask(wanted, length -> askers.charge(asker, length))
                        .map(
                                response ->
                                        response.found(
                                                wanted.question(),
                                                settings.forwarding().stripsPrivateAddresses(),
                                                settings.cache()))
                        .orElseGet(() -> new Found(failed(wanted).answer(), FAILURE));
        cache.put(wanted, found);
        return new Cache.Aged(found.answer(), Duration.ZERO);
    }

    private static Cache.Aged failed(Wanted wanted) {
        return new Cache.Aged(Answer.empty(wanted.question(), Rcode.SERVFAIL), Duration.ZERO);
    }
}
